#include "pipeline/report/html_report_assets.hpp"

namespace sepconv {

const char* const kPageStyle = R"css(
:root { color-scheme: light dark; --paper: #fff; --ink: #1c1f24; --faint: #5a6270; --rule: #d9dde3; --ground: #f3f5f7;
  --read: #4e79a7; --upload: #d9741a; --decode: #a0731c; --compute: #478a3e; --encode: #2b8a8a; --download: #96608a; --write: #cf4446; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181c; --ink: #e6e9ee; --faint: #a3acb8; --rule: #363c45; --ground: #20252b;
    --read: #6c9bd0; --upload: #f09a4c; --decode: #d1a24a; --compute: #6cb562; --encode: #55b8b8; --download: #c18cb4; --write: #ee7174; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 64rem; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; line-height: 1.35; font-weight: 600; margin: 0 0 .4rem; }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; border-top: 1px solid var(--rule); padding-top: .8rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
p { margin: .4rem 0; max-width: 48rem; }
figure { margin: 0; min-width: 0; }
figcaption, .axis, .note { color: var(--faint); font-size: .85rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: 1rem; }
img { display: block; width: 100%; height: auto; background: var(--ground); }
svg { display: block; width: 100%; height: 7.5rem; background: var(--ground); }
.slider { position: relative; --at: 50%; }
.slider img { aspect-ratio: var(--shape); image-rendering: pixelated; }
.slider .after { position: absolute; inset: 0; clip-path: inset(0 0 0 var(--at)); }
.slider::after { content: ""; position: absolute; top: 0; bottom: 0; left: var(--at); width: 2px; margin-left: -1px; background: #fff;
  box-shadow: 0 0 0 1px #000; pointer-events: none; }
.slider input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: ew-resize; touch-action: pan-y; }
.slider:focus-within { outline: 3px solid var(--read); outline-offset: 2px; }
.ends { display: flex; justify-content: space-between; }
.axis { display: flex; justify-content: space-between; gap: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { white-space: nowrap; text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; }
th { color: var(--faint); font-weight: 500; }
dl { display: grid; grid-template-columns: minmax(5rem, 9rem) 1fr; margin: 0; gap: .15rem .8rem; }
dt { color: var(--faint); }
dd { margin: 0; }
pre { background: var(--ground); padding: .8rem; white-space: pre-wrap; margin: .4rem 0; }
.lanes { display: grid; grid-template-columns: max-content 1fr; column-gap: .6rem; }
.names { display: flex; flex-direction: column; gap: 6px; font-size: .85rem; }
.names span { height: 26px; line-height: 26px; }
.lanes .axis { grid-column: 2; }
#timeline { touch-action: pan-y; cursor: grab; }
#timeline:focus-visible { outline: 3px solid var(--read); outline-offset: 2px; }
.buttons button { font: inherit; padding: .15rem .7rem; margin: .4rem .3rem 0 0; color: var(--ink); background: var(--ground);
  border: 1px solid var(--rule); border-radius: .3rem; cursor: pointer; }
.lane { fill: var(--ground); } svg#timeline { background: none; }
.odd { opacity: .6; }
.read { fill: var(--read); } .upload { fill: var(--upload); } .decode { fill: var(--decode); } .compute { fill: var(--compute); }
.encode { fill: var(--encode); } .download { fill: var(--download); } .write { fill: var(--write); }
.line { fill: none; stroke-width: 1.8; vector-effect: non-scaling-stroke; }
.value { stroke: var(--ink); } .red { stroke: #d1443f; } .green { stroke: #3f9b46; } .blue { stroke: #4a78d6; }
.area { fill: var(--read); opacity: .7; } .ceiling { stroke: var(--write); } .planned { stroke: var(--compute); stroke-dasharray: 6 4; }
.zero { stroke: var(--faint); stroke-width: 1; } polyline.x { stroke: var(--read); } polyline.y { stroke: var(--upload); stroke-dasharray: 6 4; }
rect.x { fill: var(--read); } rect.y { fill: var(--upload); }
.key { margin-right: 1rem; } .key::before { content: ""; display: inline-block; width: 1.2em; height: .3em; margin-right: .4em; vertical-align: middle; }
.key.k1::before { background: var(--read); } .key.k2::before { background: var(--upload); } .key.k3::before { background: var(--write); }
.key.k4::before { background: var(--compute); }
.both { display: none; }
@media (max-width: 30rem) { dl { grid-template-columns: fit-content(9rem) 1fr; } table { font-size: .8rem; } th, td { padding: .25rem .15rem; } }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; } .slider, .ends, .buttons, .screen { display: none; } .both { display: grid; }
  h2, figure, tr { break-inside: avoid; } h2 { break-after: avoid; } .pair { grid-template-columns: 1fr 1fr; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
)css";

const char* const kPageScript = R"js(
(() => {
  "use strict";
  for (const slider of document.querySelectorAll(".slider")) {
    const input = slider.querySelector("input");
    const show = () => slider.style.setProperty('--at', input.value + "%");
    input.addEventListener("input", show);
    show();
  }
  const drawing = document.getElementById("timeline");
  if (!drawing) return;
  const whole = 1000, seconds = Number(drawing.dataset.seconds), height = drawing.viewBox.baseVal.height;
  const marks = document.querySelectorAll(".lanes .axis span");
  let left = 0, width = whole;
  const show = () => {
    width = Math.min(whole, Math.max(whole / 5000, width));
    left = Math.min(whole - width, Math.max(0, left));
    drawing.setAttribute("viewBox", `${left} 0 ${width} ${height}`);
    const digits = Math.max(3, Math.ceil(-Math.log10(seconds * width / whole)) + 2);
    [left, left + width / 2, left + width].forEach((x, i) => { marks[i].textContent = (seconds * x / whole).toFixed(digits) + " s"; });
  };
  const zoom = (factor, at = 0.5) => { left += width * at * (1 - factor); width *= factor; show(); };
  const move = share => { left += width * share; show(); };
  const all = () => { left = 0; width = whole; show(); };
  const acts = { in: () => zoom(0.5), out: () => zoom(2), left: () => move(-0.25), right: () => move(0.25), all };
  const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", "0": "all" };
  for (const button of document.querySelectorAll("[data-act]")) button.addEventListener("click", acts[button.dataset.act]);
  drawing.addEventListener("keydown", event => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[keys[event.key]]();
  });
  drawing.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.shiftKey) return;  // else the page scrolls
    event.preventDefault();
    const box = drawing.getBoundingClientRect();
    zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, (event.clientX - box.left) / box.width);
  }, { passive: false });
  drawing.addEventListener("pointerdown", event => { drawing.setPointerCapture(event.pointerId); });
  drawing.addEventListener("pointermove", event => {
    if (event.buttons & 1) move(-event.movementX / drawing.getBoundingClientRect().width);
  });
  show();
})();
)js";

}  // namespace sepconv
