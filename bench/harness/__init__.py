"""The benchmark harness behind bench/run. Standard library only."""
