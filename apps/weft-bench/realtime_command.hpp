// `weft-bench realtime`: how late weft's loop wakes a thread, beside cyclictest, in turn, while the
// machine is idle and while it is not.
//
//   if (arguments[0] == "realtime") return run_realtime_command(argc - 1, argv + 1);
#pragma once

namespace weft::bench {

/// The exit code: 0, 1 if nothing could be measured, 2 for a wrong command line.
int run_realtime_command(int argc, char** argv);

}  // namespace weft::bench
