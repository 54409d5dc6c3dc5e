#include "inspect/report/page_style.hpp"

namespace causeway::report {

std::string_view page_style() {
    return R"css(
:root{color-scheme:light dark;--bg:#fff;--panel:#f6f7f9;--edge:#dfe3e8;--text:#1c2733;--soft:#5c6b7a;--grid:#e3e7ec;
--c1:#2f6fb5;--c2:#d9731a;--c3:#3d8f44;--c4:#8d5aa3;--bad:#c62f3b;--good:#2c7a3f;--code:#eef1f4}
@media (prefers-color-scheme:dark){:root{--bg:#14181d;--panel:#1c2229;--edge:#323b45;--text:#e3e8ee;--soft:#9aa8b6;
--grid:#2b333c;--c1:#6aa9ec;--c2:#f0994d;--c3:#72c47b;--c4:#c79adb;--bad:#f0737d;--good:#74c988;--code:#242c34}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1180px;padding:20px 20px 60px;background:var(--bg);color:var(--text);
font:15px/1.5 system-ui,"Segoe UI","DejaVu Sans",Arial,sans-serif}
h1{font-size:22px;margin:0 0 2px;overflow-wrap:anywhere}h2{font-size:17px;margin:32px 0 10px}h3{font-size:14px;margin:0 0 4px}
p{margin:4px 0}.soft,.none,figcaption,.unit{color:var(--soft)}
.state{display:inline-block;font-size:13px;font-weight:600;padding:1px 9px;border-radius:10px;border:1px solid;vertical-align:3px}
.running{color:var(--c1)}.done{color:var(--good)}.stopped{color:var(--c2)}.failed{color:var(--bad)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(132px,1fr));gap:10px;margin:16px 0}
.tiles div{background:var(--panel);border:1px solid var(--edge);border-radius:8px;padding:8px 12px}
.tiles b{display:block;font-size:19px;font-variant-numeric:tabular-nums;line-height:1.3;overflow-wrap:anywhere}
.tiles span{font-size:12px;color:var(--soft)}
.axis{display:inline-block;margin:0 2px;padding:2px 10px;border:1px solid var(--edge);border-radius:12px;font-size:13px;cursor:pointer}
input[name=axis]{position:absolute;opacity:0}
#axis-step:checked~.axes [for=axis-step],#axis-tokens:checked~.axes [for=axis-tokens],
#axis-time:checked~.axes [for=axis-time]{background:var(--c1);border-color:var(--c1);color:var(--bg)}
#axis-step:focus-visible~.axes [for=axis-step],#axis-tokens:focus-visible~.axes [for=axis-tokens],
#axis-time:focus-visible~.axes [for=axis-time]{outline:2px solid var(--text)}
.x-tokens,.x-time,.by-time{display:none}
#axis-tokens:checked~.charts .x-step,#axis-time:checked~.charts .x-step,#axis-time:checked~.charts .by-step{display:none}
#axis-tokens:checked~.charts .x-tokens,#axis-time:checked~.charts .x-time,#axis-time:checked~.charts .by-time{display:inline}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:14px;margin-top:10px}
.chart{margin:0;padding:10px 10px 8px;background:var(--panel);border:1px solid var(--edge);border-radius:8px;position:relative;min-width:0}
.chart svg{display:block;width:100%;height:auto;touch-action:pan-y}
svg text{font:12px system-ui,"DejaVu Sans",Arial,sans-serif;fill:var(--soft)}
svg .grid line{stroke:var(--grid);stroke-width:1}
svg path{fill:none;stroke-width:1.8;stroke-linejoin:round}
.l1{stroke:var(--c1)}.l2{stroke:var(--c2)}.l3{stroke:var(--c3)}.l4{stroke:var(--c4)}
.d1{fill:var(--c1)}.d2{fill:var(--c2)}.d3{fill:var(--c3)}.d4{fill:var(--c4)}
svg .b1,svg .b2,svg .b3,svg .b4{stroke:none;opacity:.22}.b1{fill:var(--c1)!important}.b2{fill:var(--c2)!important}
.b3{fill:var(--c3)!important}.b4{fill:var(--c4)!important}
svg .r1,svg .r2,svg .r3,svg .r4{stroke-width:1;opacity:.32}.r1{stroke:var(--c1)}.r2{stroke:var(--c2)}.r3{stroke:var(--c3)}.r4{stroke:var(--c4)}
svg .mark{fill:var(--bad);stroke:none}svg .reference{stroke:var(--soft);stroke-dasharray:5 4}svg .pointer{stroke:var(--soft)}
figcaption{font-size:12.5px;display:flex;flex-wrap:wrap;gap:2px 14px;padding-left:4px}
figcaption i{display:inline-block;width:14px;height:3px;border-radius:2px;margin-right:5px;vertical-align:4px}
.k1{background:var(--c1)}.k2{background:var(--c2)}.k3{background:var(--c3)}.k4{background:var(--c4)}
i.dash{height:0;border-top:2px dashed var(--soft)}i.flag{width:auto;height:auto;color:var(--bad);font-style:normal;vertical-align:0}
.tip{position:absolute;pointer-events:none;background:var(--bg);border:1px solid var(--edge);border-radius:6px;padding:3px 8px;
font-size:12.5px;white-space:pre;font-variant-numeric:tabular-nums;z-index:2;box-shadow:0 1px 4px #0003}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:13.5px}
td,th{padding:3px 14px 3px 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--grid);overflow-wrap:anywhere}
th{font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums}
code,pre{font-family:ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;font-size:13px}
pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;background:var(--code);border-radius:6px;padding:8px 12px}
.sample{margin:0 0 12px}.sample .prompt{color:var(--soft)}.sample p{font-size:13px;color:var(--soft);margin:0 0 3px}
.warning{border-left:3px solid var(--bad);padding-left:10px;margin:8px 0}
summary{cursor:pointer;margin:8px 0;color:var(--soft)}a{color:var(--c1)}
.load td{border:1px solid var(--bg);padding:2px 8px}
@media (max-width:520px){body{padding:12px 10px 40px}.tiles{grid-template-columns:1fr 1fr}.chart{padding:8px 4px}svg text{font-size:14px}}
)css";
}

std::string_view page_script() {
    return R"js(
(()=>{
const $=(q,e=document)=>[...e.querySelectorAll(q)],key="causeway:"+location.pathname;
const figure=v=>v===0?"0":Math.abs(v)>=1e4||Math.abs(v)<1e-3?v.toExponential(3):String(+v.toPrecision(5));
const time=s=>s<60?s.toFixed(1)+" s":s<3600?Math.floor(s/60)+"m "+Math.floor(s%60)+"s":Math.floor(s/3600)+"h "+Math.floor(s%3600/60)+"m";
let old={};try{old=JSON.parse(sessionStorage[key]||"{}")}catch(e){}
if(old.axis){const r=document.getElementById(old.axis);if(r)r.checked=true}
$("details").forEach((d,i)=>{if(old.open)d.open=!!old.open[i]});
if(old.y)scrollTo(0,old.y);
const keep=()=>{try{sessionStorage[key]=JSON.stringify({y:scrollY,axis:($("input[name=axis]:checked")[0]||{}).id,open:$("details").map(d=>d.open)})}catch(e){}};
addEventListener("pagehide",keep);
const written=document.body.dataset.written*1e3,ago=$("#ago")[0];
const age=()=>{if(ago){const s=(Date.now()-written)/1e3;ago.textContent=s<90?"":" ("+time(s)+" ago)"}};age();setInterval(age,5e3);
let held=false;
if(document.body.dataset.live)setInterval(()=>{if(!document.hidden&&!held&&!String(getSelection())){keep();location.reload()}},5e3);
$(".chart").forEach(f=>{
 const data=$("script",f)[0],svg=$("svg",f)[0];if(!data)return;
 const series=JSON.parse(data.textContent),per=+document.body.dataset.tokens;
 const tip=document.createElement("div");tip.className="tip";tip.hidden=true;f.append(tip);
 const bar=document.createElementNS("http://www.w3.org/2000/svg","line");bar.setAttribute("class","pointer");
 bar.setAttribute("y1",12);bar.setAttribute("y2",212);bar.style.display="none";svg.append(bar);
 const hide=()=>{tip.hidden=true;held=false;bar.style.display="none"};
 svg.addEventListener("pointerleave",hide);
 svg.addEventListener("pointermove",e=>{
  const box=svg.getBoundingClientRect(),x=(e.clientX-box.left)*480/box.width,at=$("#axis-time:checked").length?1:0;
  let best=null;
  for(const s of series)for(const p of s.points)if(!best||Math.abs(p[at]-x)<Math.abs(best[at]-x))best=p;
  if(!best)return;
  held=true;bar.style.display="";bar.setAttribute("x1",best[at]);bar.setAttribute("x2",best[at]);
  const lines=["step "+Math.round(best[3]).toLocaleString("en")+(per?"  "+figure(best[3]*per)+" tokens":"")+"  "+time(best[4])];
  for(const s of series){
   let near=null;for(const p of s.points)if(!near||Math.abs(p[at]-best[at])<Math.abs(near[at]-best[at]))near=p;
   if(near&&Math.abs(near[at]-best[at])<8)lines.push(s.name+"  "+figure(near[5])+(near[6]<near[7]?"  ("+figure(near[6])+" to "+figure(near[7])+")":""));
  }
  tip.textContent=lines.join("\n");tip.hidden=false;
  const left=best[at]*box.width/480+12;
  tip.style.left=Math.max(4,left+tip.offsetWidth>f.clientWidth-4?left-tip.offsetWidth-20:left)+"px";tip.style.top="34px";
 });
});
})();
)js";
}

}  // namespace causeway::report
