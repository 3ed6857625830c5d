// SPDX-License-Identifier: MIT
// The style sheet of the report's page: light, dark, narrow and printed.
#pragma once

namespace kiln::tool {

/// Conflicts are hatched too, for prints without colour and eyes that do not tell these colours apart.
inline constexpr const char* kReportPatterns =
    R"html(<svg width="0" height="0" class="defs" aria-hidden="true"><defs>
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="6" height="6"/><rect class="hatch-line" width="2" height="6"/></pattern>
<pattern id="slots" x="12" width="20" height="100" patternUnits="userSpaceOnUse"><rect class="free" width="19" height="100"/></pattern>
</defs></svg>
)html";

inline constexpr const char* kReportStyle = R"css(
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --card: #fff; --text: #1b2230; --soft: #5b6678; --line: #dfe3ea;
  --hit: #2f6fde; --on: #fff; --free: #e9edf3; --warn: #c2410c; --warn-ground: #fdeadd; --hatch: #dd5a22;
  --good: #146c43; --good-ground: #dff3e7; --bad: #b42318; --bad-ground: #fde5e3;
}
@media (prefers-color-scheme: dark) { :root {
  --ground: #10141b; --card: #181e27; --text: #e7ebf2; --soft: #9ba7b9; --line: #2b3442;
  --hit: #6ea0ff; --on: #0a1222; --free: #252e3b; --warn: #ff9d66; --warn-ground: #42230f; --hatch: #ffb68a;
  --good: #7fd8a5; --good-ground: #12341f; --bad: #ff8d83; --bad-ground: #471512;
} }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
.defs { position: absolute; }
h1 { margin: 0; max-width: 52rem; font-size: 1.9rem; line-height: 1.25; letter-spacing: -.015em; text-wrap: balance; }
h2 { margin: 0 0 .75rem; font-size: 1.2rem; }
h3 { display: inline; margin: 0; font-size: 1rem; }
p { margin: .5rem 0; }
small { color: var(--soft); font-weight: 400; }
code, pre { font: .92em/1.45 ui-monospace, "SF Mono", Menlo, Consolas, monospace; unicode-bidi: isolate; }
pre { margin: 0; white-space: pre; tab-size: 4; }
data { font-variant-numeric: tabular-nums; }
.over { margin: 0 0 .5rem; color: var(--soft); font-size: .9rem; }
.lead { max-width: 52rem; margin: .6rem 0; font-size: 1.15rem; }
.summary { max-width: 52rem; color: var(--soft); }
section, .glance > div { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
section { margin: 1.25rem 0; padding: 1.25rem; }
.tag { display: inline-block; padding: .05rem .55rem; border-radius: 1rem; font-size: .82rem; font-weight: 600;
  white-space: nowrap; vertical-align: .12em; }
.many { color: var(--soft); background: var(--free); }
.good { color: var(--good); background: var(--good-ground); }
.warn { color: var(--warn); background: var(--warn-ground); }
.bad { color: var(--bad); background: var(--bad-ground); }
header .tag { margin-left: .4rem; }
.glance { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.glance > div { max-width: 24rem; padding: .8rem 1rem; }
dt { color: var(--soft); font-size: .85rem; }
dd { margin: 0; }
.glance dd { font-size: 1.6rem; font-weight: 650; line-height: 1.3; }
.glance small { display: block; font-size: .8rem; line-height: 1.35; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr)); gap: .6rem 1.5rem; margin: .5rem 0; }
.finding .facts { grid-template-columns: repeat(auto-fill, minmax(min(9rem, 100%), 1fr)); margin-top: .9rem; }
.finding .whole { grid-column: 1 / -1; }
.whole code { display: block; padding: .35rem .6rem; border-radius: .4rem; background: var(--ground); white-space: pre-wrap; }
.note, .where { color: var(--soft); font-size: .88rem; }
.missing { padding: .6rem .9rem; border-radius: .5rem; background: var(--warn-ground); }
.finding { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(25rem, 100%), 1fr)); gap: 1rem 2rem; align-items: start;
  padding: 1.25rem 0; border-top: 1px solid var(--line); }
.finding:first-of-type { border-top: 0; padding-top: 0; }
.finding:last-of-type { padding-bottom: 0; }
.finding h3 { display: block; margin-bottom: .5rem; font-size: 1.05rem; }
.legend { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); gap: .9rem 2rem; margin: 0; font-size: .92rem; }
.legend dt { color: var(--text); font-weight: 600; }
.help::before { content: "→ "; color: var(--good); font-weight: 700; }
.scroll { overflow-x: auto; margin: .75rem 0; }
.scroll:focus-visible { outline: 2px solid var(--hit); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; overflow-wrap: normal; }
caption { padding-bottom: .4rem; color: var(--soft); text-align: left; font-size: .88rem; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-size: .82rem; font-weight: 600; vertical-align: bottom; }
thead .number { white-space: normal; }
tbody th { font-weight: 500; }
.number { text-align: right; white-space: nowrap; }
tbody tr:last-child > * { border-bottom: 0; }
#source td, #source th { padding-block: .1rem; border-bottom: 0; }
#source pre { display: inline-block; }
#source tbody th { color: var(--soft); text-align: right; }
details { margin: .75rem 0; }
summary { padding: .35rem 0; color: var(--hit); font-weight: 600; cursor: pointer; }
.beside td:nth-child(2) pre { min-width: 12rem; max-width: 26rem; white-space: pre-wrap; }
.beside td { border-bottom: 1px solid var(--line); }
.beside td:last-child pre, .beside td:last-child { font-size: .82rem; }
.kernel h2 small { display: block; font-size: .85rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(25rem, 100%), 1fr)); gap: 1.5rem 2rem; margin-top: 1rem; }
figure { margin: 0; min-width: 0; break-inside: avoid; }
figcaption .where { margin: .1rem 0 .4rem; }
.lanes { display: block; width: 100%; max-width: 34rem; height: auto; font: 600 10px system-ui, sans-serif; }
.label { fill: var(--soft); font-weight: 400; }
.free { fill: var(--free); background: var(--free); }
.hit { fill: var(--hit); background: var(--hit); stroke: var(--card); stroke-width: 1px; }
.conflict { fill: url(#hatch); } .slots { fill: url(#slots); } .lanes .many { font-size: 8.5px; }
.hatch-ground { fill: var(--warn); } .hatch-line { fill: var(--hatch); }
.on { fill: var(--on); pointer-events: none; }
.bar { width: 100%; min-width: 4rem; height: .55rem; border-radius: .3rem; }
.wide { display: block; max-width: 30rem; }
.bar .rest { fill: var(--free); } .bar .part { fill: var(--hit); } .limit .part { fill: var(--warn); }
.often { margin: .4rem 0 0; padding: 0; list-style: none; font-size: .88rem; color: var(--soft); }
.often li { display: grid; grid-template-columns: 4.2rem 1fr max-content; gap: .6rem; }
.key i { display: inline-block; width: .85rem; height: .85rem; margin-left: .2rem; border-radius: .2rem; vertical-align: -.1rem; }
.key .conflict { background: repeating-linear-gradient(45deg, var(--warn) 0 3px, var(--hatch) 3px 5px); }
@media (max-width: 30rem) { body { padding: 1.25rem .75rem 3rem; } section { padding: 1rem .85rem; } h1 { font-size: 1.5rem; } }
@media print {
  :root { --ground: #fff; --card: #fff; --text: #000; --soft: #444; --line: #bbb; --hit: #2f6fde; --on: #fff; --free: #e9edf3;
    --warn: #c2410c; --warn-ground: #fdeadd; --hatch: #dd5a22; --good: #146c43; --good-ground: #dff3e7; --bad: #b42318; --bad-ground: #fde5e3; }
  html { font-size: 10pt; }
  body { max-width: none; padding: 0; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .glance { break-inside: avoid; } .scroll { overflow: visible; } pre { white-space: pre-wrap; } table { font-size: 8pt; } th, td { padding: .2rem .3rem; } tr { break-inside: avoid; }
}
)css";

}  // namespace kiln::tool
