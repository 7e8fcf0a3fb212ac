"""How the HTML report looks: light and dark, on a screen and on a phone."""

STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5d6675; --line: #dde2ea; --page: #ffffff;
  --panel: #f6f8fb; --good: #1a7f4b; --bad: #b3261e;
  --own: #2f66b8; --own-light: #9dbfe8; --bare: #858e9e; --bare-light: #c6ccd6;
  --peer: #b0803a; --peer-light: #e6c795;
  --c0: #b0661a; --c1: #7a4fb5; --c2: #1a8a74; --c3: #c2417c; --c4: #8a7a00; --c5: #a8442c;
  --c6: #4d7d2a; --c7: #6b6f8f; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ef; --soft: #9aa4b5; --line: #333b49; --page: #14181f; --panel: #1b212b;
    --good: #5fd08f; --bad: #ff8a80;
    --own: #6ea2ee; --own-light: #2f4f80; --bare: #8791a2; --bare-light: #434b59;
    --peer: #c9974a; --peer-light: #6b5126;
    --c0: #f0a050; --c1: #b794f0; --c2: #4fc9ae; --c3: #f080b0; --c4: #d0bd45; --c5: #ef8a70;
    --c6: #96c96a; --c7: #a9aed0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 66rem; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 3rem 0 .5rem; padding-top: .6rem; border-top: 1px solid var(--line); }
h3 { font-size: .95rem; margin: 1.6rem 0 .3rem; color: var(--soft); font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0;
  padding: .9rem 1.1rem; background: var(--panel); border-radius: 8px; }
dt, .how, .key { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
a { color: var(--own); }
.how { margin: 1rem 0 0; max-width: 46rem; }
.key { font-size: .85rem; margin: .3rem 0 0; }
.lead { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
.note { margin: .4rem 0; }
.bad { color: var(--bad); font-weight: 600; }
.wins { color: var(--good); } .loses { color: var(--bad); } .wins, .loses { font-weight: 600; }
.banner { border-left: 4px solid var(--bad); background: var(--panel); padding: .6rem 1rem; margin: 1rem 0; }
.wide { overflow-x: auto; }
ul.plain { list-style: none; padding: 0; margin: .5rem 0; }
ul.plain li { margin: .15rem 0; }
.bars { list-style: none; margin: .8rem 0 0; padding: 0; }
.bars li { display: grid; grid-template-columns: 10rem 1fr 11.5rem; gap: 0 .8rem; align-items: center;
  padding: .22rem 0; }
.bars .name { overflow-wrap: anywhere; }
.bars .label { white-space: nowrap; font-variant-numeric: tabular-nums; }
.bars small { color: var(--soft); }
.track { position: relative; height: 18px; border-left: 1px solid var(--line); }
.track i { position: absolute; }
.track .system, .track .user { top: 0; bottom: 0; }
.track .spread { top: 8px; height: 2px; min-width: 2px; background: var(--ink);
  box-shadow: 0 0 0 1px var(--page); }
.track .dot { top: 6px; width: 6px; height: 6px; margin-left: -3px; border-radius: 50%;
  background: var(--ink); box-shadow: 0 0 0 1px var(--page); }
.own .system { background: var(--own); } .own .user { background: var(--own-light); }
.bare .system { background: var(--bare); } .bare .user { background: var(--bare-light); }
.peer .system { background: var(--peer); } .peer .user { background: var(--peer-light); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: .5rem 1.5rem; }
figure { margin: 1rem 0 0; max-width: 34rem; }
figure svg { display: block; width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .tick { fill: var(--soft); font-size: 11px; }
svg .title { font-weight: 600; }
svg .grid { stroke: var(--line); }
svg .line polyline { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .bare-0 { --stroke: var(--bare); } svg .bare-1 { --stroke: var(--bare); --dash: 5 3; }
svg .bare-2, svg .bare-3 { --stroke: var(--bare); --dash: 2 3; }
svg .own-0 { --stroke: var(--own); } svg .own-1 { --stroke: var(--own); --dash: 6 3; }
svg .own-2, svg .own-3 { --stroke: var(--own); --dash: 2 3; }
svg .peer-0 { --stroke: var(--c0); } svg .peer-1 { --stroke: var(--c1); }
svg .peer-2 { --stroke: var(--c2); } svg .peer-3 { --stroke: var(--c3); }
svg .peer-4 { --stroke: var(--c4); } svg .peer-5 { --stroke: var(--c5); }
svg .peer-6 { --stroke: var(--c6); } svg .peer-7 { --stroke: var(--c7); }
svg .line polyline { stroke: var(--stroke); stroke-dasharray: var(--dash, none); }
svg .line circle { fill: var(--stroke); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; padding: 0; margin: .4rem 0 0;
  font-size: .85rem; }
.swatch { display: inline-block; width: 26px; height: 8px; margin-right: .35rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--soft); font-weight: 500; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.over td, .over th { white-space: normal; text-align: left; vertical-align: top; }
.over small { color: var(--soft); }
details { margin: .6rem 0 0; color: var(--soft); }
code { font-size: .85em; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  body { padding: 1.2rem .9rem 3rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .35rem; }
  .bars li { grid-template-columns: 1fr max-content; padding: .3rem 0; }
  .bars .track { grid-column: 1 / -1; grid-row: 2; }
}
"""
