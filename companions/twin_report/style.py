"""The style sheet of a report: readable on a phone and on paper; colours that differ in lightness too."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light; --line: #cfd8dc; --text: #263238; --soft: #4f6470; --real: #90a4ae;
  --twin: #00695c; --warn: #b71c1c; --blind: #8e6bb0; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; color: var(--text); background: #fff;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 1rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .3rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: .88rem; margin: .2rem 0; }
a { color: #00695c; } a:focus-visible, .wide:focus-visible { outline: 2px solid #00695c; }
.banner { color: #fff; padding: .8rem 1rem; border-radius: .3rem; font-weight: 600; }
.banner.closed { background: var(--warn); font-size: 1.15rem; } .banner.open { background: #00695c; }
.about, .question { color: var(--soft); margin-top: 0; }
.warned { border-left: .3rem solid var(--warn); padding: .3rem .8rem; background: #fdf2f2; }
nav ul { padding-left: 1.2rem; columns: 18rem; }
figure { margin: 1.5rem 0; }
figcaption { font-size: .88rem; color: var(--soft); margin-bottom: .4rem; }
figcaption strong { display: block; color: var(--text); font-size: .95rem; }
.mark-of { display: inline-block; padding: 0 .5rem; border-radius: 1rem; font-size: .78rem; color: #fff; }
.mark-of.original { background: var(--warn); } .mark-of.counts { background: #00695c; }
.mark-of.declared { background: #455a64; } .mark-of.alone { background: #6a4c93; }
.legend { list-style: none; padding: 0; margin: .3rem 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem;
  font-size: .85rem; }
.key { display: inline-block; width: .9rem; height: .9rem; margin-right: .4rem; vertical-align: -.1rem; }
.key.real { background: var(--real); } .key.twin { background: var(--twin); }
.key.band { background: none; border: 2px solid #e08e0b; } .key.blind { background: var(--blind); }
.key.plus { background: #b2182b; } .key.minus { background: #2166ac; }
.key.attack { background: var(--warn); }
.drawings { display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); }
.drawings.dense { grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); }
.drawing > svg { display: block; }
.matrix > svg { width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid
  var(--line); }
th { color: var(--soft); font-weight: 600; }
th.number { text-align: right; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
svg.chart { overflow: visible; } svg.chart.matrix { width: 100%; height: auto; }
svg text { font-size: 11px; fill: var(--soft); font-family: system-ui, sans-serif; }
svg .label { fill: var(--text); font-size: 12px; }
svg .grid { stroke: #e6ecef; } svg .floor { stroke: var(--real); } svg .identity { stroke: var(--real);
  stroke-dasharray: 4 3; }
svg rect.real { fill: var(--real); } svg rect.twin { fill: var(--twin); } svg .band { stroke: #e08e0b;
  stroke-width: 2; }
svg line.real { stroke: #78909c; stroke-width: 2; } svg line.twin { stroke: var(--twin); stroke-width: 2; }
svg line.blind { stroke: var(--blind); stroke-width: 2; stroke-dasharray: 3 3; }
svg line.attack { stroke: var(--warn); stroke-width: 2; } svg circle.attack { fill: var(--warn); }
svg circle.real { fill: #78909c; } svg circle.twin { fill: var(--twin); }
svg circle.blind { fill: var(--blind); }
@media print { .banner.closed { border: 2px solid var(--warn); color: var(--warn); background: none; } }
"""
