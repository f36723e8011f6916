// The page of a recording: it does what the viewer's server does for its page, with numbers from the file (numbers.py).
//
//   ask(what, given)     the answers that page.js asks the server for otherwise (asking.py): hover, select, measure
//   messages             what viser's player puts on the page passes here: layers, opacity, section, follow and dark change it
//
// Points and directions are in the axes of the model, [m], unless they are said to be of the window.
const element = id => document.getElementById(id), make = (tag, given = {}, ...inside) => {
  const made = Object.assign(document.createElement(tag), given);
  made.append(...inside);
  return made;
};
const among = window.__nexdynMember, part = id => element(among ? `${id}-${among.member}` : id);  // of a batch (members.js)
const data = JSON.parse(part("nexdyn-data").textContent), w = label => data.words[label] ?? label;
const aside = element("nexdyn"), viser = () => window.__viserMutable;
const text = x => String(x).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const unpacked = async kept => {
  const bytes = Uint8Array.from(atob(kept.textContent), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
let values = new Float32Array(0);  // until they are unpacked
const state = {
  key: "", points: [], arrows: data.arrows, trail: data.trail, follow: data.follow, place: null, still: [0, 0, 0], opacity: data.opacity, section: data.section, parallel: data.parallel, dark: data.dark, si: data.si,
};

document.body.classList.toggle("nexdyn-pose", !data.moves);
document.head.append(make("style", { textContent: `
  body { display: flex; }
  #root { flex: 1 1 0; width: auto; min-width: 0; position: relative; transform: translateZ(0); }
  #nexdyn { flex: 0 0 min(440px, 42%); height: 100%; overflow-y: auto; box-sizing: border-box; padding: 8px 12px;
    border-left: 1px solid #ddd; background: #fff; color: #222; font: 13px sans-serif; }
  #nexdyn h1 { font-size: 17px; margin: 0 0 2px; } #nexdyn > p { margin: 0 0 4px; color: #666; }
  #nexdyn button, #nexdyn select { font: inherit; color: inherit; background: rgba(120, 140, 170, 0.15); border: 1px solid #aaa;
    border-radius: 4px; padding: 1px 7px; margin: 1px 3px 1px 0; cursor: pointer; }
  #nexdyn [role=tab][aria-selected=true] { background: #1c6fb8; color: #fff; }
  #nexdyn [role=tablist] { margin: 4px 0; border-bottom: 1px solid #ccc; padding-bottom: 3px; }
  #nexdyn label { display: block; margin: 2px 0; } #nexdyn label input[type=range] { width: 55%; vertical-align: middle; }
  #nexdyn label.nexdyn-dial { display: grid; grid-template-columns: 9em 1fr 6.5em; gap: 6px; align-items: center; overflow-wrap: anywhere; }
  #nexdyn label.nexdyn-dial input[type=range] { width: auto; min-width: 0; } #nexdyn label.nexdyn-dial output { text-align: right; }
  #nexdyn [hidden] { display: none; } #nexdyn-menus label { display: inline-block; margin-right: 8px; } #nexdyn select { max-width: 20em; }
  [data-mantine-color-scheme=dark] #nexdyn { background: #1a1b1e; color: #ddd; border-color: #444; }
  [data-mantine-color-scheme=dark] #nexdyn > p { color: #999; } [data-mantine-color-scheme=dark] #nexdyn option { background: #333; }
  #nexdyn-marks { position: fixed; z-index: 4; pointer-events: none; overflow: hidden; }
  /* the player's own slider and field run ahead of what is drawn and tell seconds of playing */
  #root .mantine-NumberInput-root:has(+ .mantine-Slider-root), #root .mantine-NumberInput-root + .mantine-Slider-root { display: none; }
  #nexdyn-time { flex: 1 1 0; min-width: 0; display: flex; align-items: center; gap: 0.6em; font: 13px sans-serif; }
  #nexdyn-time input { flex: 1 1 0; min-width: 0; } #nexdyn-time output { font-variant-numeric: tabular-nums; }
  /* of a pose the player leaves the button of its own tree alone, where the cube is */
  .nexdyn-pose #root .mantine-Paper-root:has(> [aria-label$="scene tree"]) { display: none !important; }
  @media (max-width: 700px) { body { flex-direction: column; } #root { height: auto; }
    #nexdyn { flex: 0 0 45%; border-left: 0; border-top: 1px solid #ddd; } }` }));

// --- time ---------------------------------------------------------------------------------------------------------------
const time = () => viser()?.nodePoseData?.[data.clock]?.position[0] ?? data.start;  // of the poses that are on the page
const seek = t => {  // typed into the player's field, which stops it
  const field = document.querySelector("#root input");
  if (!field) return;
  t = Math.min(Math.max(t, data.start), data.end);
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set
    .call(field, ((t - data.start) / data.speed + 1e-4).toFixed(4));
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const bar = make("div", { id: "nexdyn-time" });
bar.innerHTML = `<input type="range" id="nexdyn-slider" aria-label="${w("time [s]")}" min="${data.start}" max="${data.end}"
  step="${data.step || 1}"><span>t = <output id="nexdyn-t"></output> s</span>`;
const [handle, shown] = [bar.querySelector("input"), bar.querySelector("output")];
const place = () => {  // between the player's buttons, once it is there
  const own = document.querySelector("#root .mantine-NumberInput-root + .mantine-Slider-root");
  if (own) own.after(bar); else setTimeout(place, 50);
};
place();
handle.addEventListener("input", () => seek(parseFloat(handle.value)));

// --- numbers ------------------------------------------------------------------------------------------------------------
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2], plus = (a, b, s = 1) => a.map((x, k) => x + s * b[k]);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = a => Math.hypot(...a);
const turned = (q, v) => {  // R(q) v, q = (w, u)
  const u = q.slice(1), c = cross(u, v), d = cross(u, c);
  return v.map((x, k) => x + 2 * (q[0] * c[k] + d[k]));
};
const back = q => [q[0], -q[1], -q[2], -q[3]];
const bracket = t => {  // the sample before t, and the share of the next one
  const all = data.times;
  let low = 0, high = all.length - 1;
  while (high - low > 1) { const m = (low + high) >> 1; if (all[m] <= t) low = m; else high = m; }
  return [low, all.length < 2 ? 0 : Math.min(Math.max((t - all[low]) / (all[high] - all[low]), 0), 1)];
};
const at = ([, first, k], t) => {
  const [j, s] = bracket(t), next = s > 0 ? j + 1 : j;
  return Array.from({ length: k }, (_, i) => (1 - s) * values[first + j * k + i] + s * values[first + next * k + i]);
};
const poseOf = ([p, q], t) => {
  const turn = at(q, t), size = norm(turn) || 1;
  return { p: at(p, t), q: turn.map(x => x / size) };
};
const posed = {};  // where sliders of joints have put bodies
const recordedPose = (body, t) => body === "ground" ? { p: [0, 0, 0], q: [1, 0, 0, 0] } : poseOf(data.cards[`body:${body}`].curves, t);
const pose = (body, t) => posed[body] ?? recordedPose(body, t);
const sized = t => data.drawn[(data.sizes.findLast(([since]) => since <= t) ?? data.sizes[0])[1]];  // what bodies have at a time: parameters may change sizes
const cardOf = (key, t) => ({ ...data.cards[key], ...sized(t).cards[key] });
const inWorld = (body, p, t) => { const b = pose(body, t); return plus(b.p, turned(b.q, p)); };

const told = (values, unit) => {  // in the chosen units
  const [base, ...per] = unit.split("/"), rest = per.length ? `/${per.join("/")}` : "";
  if (!state.si && base === "m") return [values.map(x => 1e3 * x), `mm${rest}`.replace("^2", "²")];
  if (!state.si && base === "rad") return [values.map(x => x * 180 / Math.PI), `°${rest}`.replace("^2", "²")];
  return [values, unit === "1" ? "" : unit.replace("N m", "N·m").replace("kg m", "kg·m").replace("^2", "²")];
};
const number = x => {  // four digits, as cards.py has them
  if (!Number.isFinite(x)) return "–";
  if (Math.abs(x) < 1e-12) return "0";
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e3) return x.toPrecision(4).replace("-", "−");
  const [digits, e] = x.toExponential(3).split("e"), power = Number(e);
  const said = power >= -4 && power < 4 ? String(Number(x.toPrecision(4)))
    : `${Number(digits)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  return said.replaceAll("-", "−");
};
const row = (label, numbers, unit) => {
  const [all, named] = told(numbers, unit);
  return `<tr><th scope="row">${text(label)}</th><td>${all.map(x => `<span>${number(x)}</span>`).join(" ")}</td><td>${named}</td></tr>`;
};
const group = label => `<tr><th colspan="3" scope="rowgroup">${text(label)}</th></tr>`;

// --- what is asked ------------------------------------------------------------------------------------------------------
const surfaces = () => { const all = window.__viserSceneTree.getState(); return node => all[node]?.message?.props ?? {}; };
const isThere = name => window.__viserSceneTree.getState()[name] !== undefined;
const seen = layer => data.layers[layer]?.[1];
const crossing = (a, u, v, from, along) => {  // where a line meets a triangle, how far along it; NaN where it does not
  const e = plus(u, a, -1), g = plus(v, a, -1), h = cross(along, g), det = dot(e, h), r = plus(from, a, -1), c = cross(r, e);
  const x = dot(r, h) / det, y = dot(c, along) / det;
  return x >= 0 && y >= 0 && x + y <= 1 ? dot(g, c) / det : NaN;
};
const covers = ({ found }, from, along) => {  // a face where a line comes through the plane of the section
  for (let k = 0; k < found.length; k += 9) {
    if (Number.isFinite(crossing(...[0, 3, 6].map(m => found.slice(k + m, k + m + 3)), from, along))) return true;
  }
  return false;
};
const pick = (given, t) => {  // picking.py; the nearest triangle that the line of sight meets
  const ray = given.ray.split(",").map(Number), o = ray.slice(0, 3), length = norm(ray.slice(3)), d = ray.slice(3).map(x => x / length);
  if (!seen("shapes") || !(length > 0)) return null;
  let [least, most] = [0, Infinity], found = null, smallest = Infinity;  // area of the face where the line comes through the plane
  const surface = surfaces(), count = {};
  if (state.section) {
    const [normal, level] = plane(), above = dot(normal, o) - level, rate = dot(normal, d);
    if (rate > 0) most = Math.max(0, -above / rate); else if (rate < 0) least = Math.max(0, -above / rate); else if (above > 0) most = 0;
  }
  for (const [node, body, q, p] of sized(t).pieces) {
    const { vertices, faces } = surface(node), b = pose(body, t), i = count[node] ?? 0;  // which one of what shares a surface
    count[node] = i + 1;
    if (!vertices) continue;
    const inPiece = v => turned(back(q), turned(back(b.q), v)), middle = plus(b.p, turned(b.q, p));
    const from = inPiece(plus(o, middle, -1)), along = inPiece(d), radius = reach(vertices);
    const closest = -dot(from, along);
    if (closest < -radius || dot(from, from) - closest * closest > radius * radius) continue;
    const face = least > 0 ? window.__nexdynFace?.(node, i) : null;  // scene.js draws it
    if (face && face.area <= smallest && covers(face, from, along)) {
      smallest = face.area;
      found = { body, s: least };
    }
    if (smallest < Infinity) continue;
    for (let k = 0; k < faces.length; k += 3) {
      const s = crossing(...[0, 1, 2].map(m => [...vertices.subarray(3 * faces[k + m], 3 * faces[k + m] + 3)]), from, along);
      if (s > least && s <= most && s < (found?.s ?? Infinity)) found = { body, s };
    }
  }
  if (!found) return null;
  const b = pose(found.body, t);
  return { body: found.body, p: turned(back(b.q), plus(plus(o, d, found.s), b.p, -1)) };
};
const reaches = new WeakMap();
const reach = vertices => {  // of a ball about a surface's origin
  if (!reaches.has(vertices)) {
    let most = 0;
    for (let k = 0; k < vertices.length; k += 3) most = Math.max(most, norm(vertices.subarray(k, k + 3)));
    reaches.set(vertices, most);
  }
  return reaches.get(vertices);
};
const MOST_POINTS = 3;
const measure = point => { state.points = [...(state.points.length < MOST_POINTS ? state.points : []), point]; tell(); };
const select = key => { state.key = data.cards[key] ? key : ""; tell(); };
const answers = {
  hover: (given, t) => {
    const hit = pick(given, t);
    if (!hit) return {};
    const mass = hit.body === "ground" ? "" : `  ${number(cardOf(`body:${hit.body}`, t).fixed[0][1][0])} kg`;
    return { name: hit.body, said: hit.body === "ground" ? w("ground") : hit.body + mass };
  },
  select: (given, t) => { choose(given.of ?? `body:${pick(given, t)?.body}`); return { selected: state.key }; },
  measure: (given, t) => { const hit = pick(given, t); if (hit) measure(hit); return hit ? { name: hit.body, point: hit.p } : {}; },
};
window.__nexdynAsk = async (what, given) => answers[what]?.(given, Number(given.t ?? time())) ?? {};

const parted = label => {  // a quantity and what it is of, whose name may have such a line too
  const cut = label.indexOf("|");
  return cut < 0 ? [label, ""] : [label.slice(0, cut), label.slice(cut + 1)];
};
const card = t => {
  if (!state.key) return `<p class="nexdyn-said">${text(w("Click a body, or choose one in the model's tree."))}</p>`;
  const { fixed, curves } = cardOf(state.key, t), lines = fixed.map(([name, numbers, unit]) => row(w(name), numbers, unit));
  let last = "";
  for (const curve of curves) {
    const [name, joint] = parted(curve[0]);
    let now = at(curve, t);
    const stands = !joint && posed[state.key.replace(/^body:/, "")];
    if (stands) now = name === "position" ? stands.p : name === "quaternion" ? stands.q : now;
    if (name === "quaternion") now = now.map((x, _, all) => x / (norm(all) || 1));
    if (joint && joint !== last) { lines.push(group(`${w(name === "contact force" ? "contact with" : "reaction of")} ${joint}`)); last = joint; }
    lines.push(row(w(name), now, curve[3]));
    if (joint) lines.push(row(`|${w(name)}|`, [norm(now)], curve[3]));
  }
  const title = state.key.slice(state.key.indexOf(":") + 1);
  return `<table class="nexdyn-card" data-nexdyn-of="${text(state.key)}"><caption>${text(title)}</caption>${lines.join("")}</table>`;
};
const ruler = t => {
  const p = state.points.map(x => inWorld(x.body, x.p, t)), name = k => String.fromCharCode(65 + k);
  const lines = p.map((x, k) => row(`${name(k)} (${state.points[k].body})`, x, "m"));
  for (let k = 0; k + 1 < p.length; k++) {
    const apart = plus(p[k + 1], p[k], -1);
    lines.push(row(`|${name(k)}${name(k + 1)}|`, [norm(apart)], "m"), row(`Δ ${name(k)}${name(k + 1)}`, apart, "m"));
  }
  if (p.length === 3) {
    const [u, v] = [plus(p[0], p[1], -1), plus(p[2], p[1], -1)];
    lines.push(row(w("angle at B"), [Math.atan2(norm(cross(u, v)), dot(u, v))], "rad"));
  }
  return p.length ? `<table class="nexdyn-card nexdyn-ruler"><caption>${text(w("Measured"))}</caption>${lines.join("")}</table>` : "";
};
const apart = t => {  // from the ghost: ghost.py
  if (!Object.keys(data.ghost).length) return "";
  const all = data.bodies.map(body => {
    const a = pose(body, t), b = poseOf(data.ghost[body], t), sign = a.q.reduce((sum, x, k) => sum + x * b.q[k], 0) < 0 ? -1 : 1;
    return { body, far: norm(plus(a.p, b.p, -1)), angle: 4 * Math.asin(Math.min(norm(plus(a.q, b.q, -sign)) / 2, 1)) };
  });
  const farthest = all.reduce((a, b) => b.far > a.far ? b : a);
  const chosen = [farthest, ...all.filter(x => `body:${x.body}` === state.key && x !== farthest)];
  const lines = chosen.map(x => group(x.body + (x === farthest ? ` (${w("farthest")})` : "")) + row(w("distance"), [x.far], "m")
    + row(w("angle"), [x.angle], "rad"));
  return `<table class="nexdyn-card nexdyn-ghost"><caption>${text(w("Difference from the ghost"))}</caption>${lines.join("")}</table>`;
};

// --- messages: what the player puts on the page, as it is to be seen ---------------------------------------------------------
const changed = { visible: {}, props: {}, pose: {} };
let shadows = seen("shadows"), caught = null;
const ARROWS = /^\/motion\/(?:sizes\d+\/)?(forces|moments|contacts)$/, TRAILS = /^\/motion\/(?:sizes\d+\/)?trails$/;
const recorded = new WeakMap(), latest = {};  // points of arrows and trails as they were recorded; the last ones of each node
let shownAt = data.start;
const stretched = points => {  // arrows, some times as long as they were recorded, as arrows.py has them
  const found = Float32Array.from(points), share = state.arrows / data.arrows;
  for (let k = 0; k < found.length; k += 6) {
    const along = [0, 1, 2].map(j => points[k + 3 + j] - points[k + j]), length = norm(along);
    const most = length > 0 ? Math.max(1, data.size / length) : 1;  // none grows longer than the scene
    for (let j = 0; j < 3; j++) found[k + 3 + j] = points[k + j] + Math.min(share, most) * along[j];
  }
  return found;
};
const trailed = t => {  // the paths of the last state.trail seconds, as segments
  const from = Math.max(data.start, t - state.trail), found = [];
  for (const [body, p] of data.trailed) {
    let last = null;
    for (let k = 0; k <= TRAIL_POINTS; k++) {
      const now = inWorld(body, p, from + k / TRAIL_POINTS * (t - from));
      if (last) found.push(...last, ...now);
      last = now;
    }
  }
  return Float32Array.from(found.length ? found : [0, 0, 0, 0, 0, 0]);
};
const TRAIL_POINTS = 120;
const fitted = (name, points) => ARROWS.test(name) ? state.arrows === data.arrows ? points : stretched(points)
  : state.trail === data.trail ? points : trailed(shownAt);
const fit = message => {
  const props = message.updates ?? message.props, { name } = message;
  if (!props?.points || !(ARROWS.test(name) || TRAILS.test(name))) return;
  if (!recorded.has(message)) recorded.set(message, props.points);
  latest[name] = recorded.get(message);
  props.points = fitted(name, latest[name]);
};
const refit = () => {
  shownAt = time();
  for (const [name, points] of Object.entries(latest))
    if (isThere(name)) send({ type: "SceneNodeUpdateMessage", name, updates: { points: fitted(name, points) } });
};
const fixed = message => {  // the same objects come again each time the recording begins anew
  const { type, name } = message;
  if (name === data.clock && type === "SetPositionMessage") shownAt = message.position[0];
  fit(message);
  if (type === "SetSceneNodeVisibilityMessage" && name in changed.visible) message.visible = changed.visible[name];
  else if (type === "SetPositionMessage" && changed.pose[name]) message.position = changed.pose[name].position;
  else if (type === "SetOrientationMessage" && changed.pose[name]) message.wxyz = changed.pose[name].wxyz;
  else if (type === "EnableLightsMessage") message.cast_shadow = shadows;
  else if (type === "ThemeConfigurationMessage") message.dark_mode = state.dark;
  else if (type === "BackgroundImageMessage") Object.assign(message, background());
  if (message.props && changed.props[name]) Object.assign(message.props, changed.props[name]);
  return message;
};
const shift = t => {  // a followed body stays where it was at the start, or where it was seen as it was clicked
  if (!state.follow) return state.still;
  return plus(state.place ?? recordedPose(state.follow, data.start).p, pose(state.follow, t).p, -1);
};
const drift = () => state.follow ? state.place ? plus(state.place, recordedPose(state.follow, data.start).p, -1) : [0, 0, 0] : state.still;
const asRecorded = () => state.follow === data.follow && !state.place && !state.still.some(x => x);
const catchMessages = () => {
  const queue = viser()?.messageQueue;
  if (!queue || queue === caught) return;
  caught = queue;
  const push = Array.prototype.push;
  queue.push = (...messages) => {
    for (const message of messages) {
      const moved = message.name === "/motion" && message.type === "SetPositionMessage";
      if (moved && !asRecorded()) continue;
      push.call(queue, fixed(message));
      if (message.name === data.clock && message.type === "SetPositionMessage" && !asRecorded())
        push.call(queue, { type: "SetPositionMessage", name: "/motion", owner: "", position: shift(message.position[0]) });
    }
    return queue.length;
  };
};
setInterval(catchMessages, 20);
const send = (...messages) => {
  catchMessages();
  Array.prototype.push.apply(viser().messageQueue, messages.map(message => ({ owner: "", ...message })));
  viser().requestRender();
};
const setProps = (name, updates) => {
  changed.props[name] = { ...changed.props[name], ...updates };
  if (isThere(name)) send({ type: "SceneNodeUpdateMessage", name, updates });
};
const setVisible = (names, visible) => {
  for (const name of names) {
    changed.visible[name] = visible;
    if (isThere(name)) send({ type: "SetSceneNodeVisibilityMessage", name, visible });
  }
};
const nodesOf = layer => [...new Set(data.drawn.flatMap(x => x.nodes[layer] ?? []))];
const setLayer = (layer, on) => {
  data.layers[layer][1] = on;
  if (layer === "shadows") send({ type: "EnableLightsMessage", enabled: true, cast_shadow: shadows = on });
  setVisible(nodesOf(layer), on);
};
const setOpacity = share => {
  state.opacity = share;
  for (const [name, own] of data.drawn.flatMap(x => x.opaque)) setProps(name, { opacity: share * own >= 1 ? null : share * own });
  opacity.value = share;
};
const plane = () => {  // normal of what is kept, and its level
  const [side, at] = state.section;
  return [data.sections[side][0], (side[0] === "-" ? -1 : 1) * at];
};
const setSection = section => {
  state.section = section;
  const [normal, level] = section ? plane() : [[1, 0, 0], 1e12], turn = section ? data.sections[section[0]][1] : [1, 0, 0, 0];
  const now = changed.pose["/motion/section"] = { position: normal.map(x => x * level), wxyz: turn };
  send({ type: "SetPositionMessage", name: "/motion/section", position: now.position },
    { type: "SetOrientationMessage", name: "/motion/section", wxyz: now.wxyz });
  side.value = section ? section[0] : "";
  levels.hidden = !section;
  tellLevel();
};
const setFollow = (body, steady = false) => {  // steady: what is seen stays where it is
  const t = time(), now = shift(t);
  state.still = steady && !body ? now : [0, 0, 0];
  state.place = steady && body ? plus(pose(body, t).p, now) : null;
  state.follow = body;
  send({ type: "SetPositionMessage", name: "/motion", position: shift(time()) });
  follows.value = body;
};
const sky = ([above, below]) => {  // an image of one column
  const canvas = make("canvas", { width: 1, height: 256 }), context = canvas.getContext("2d");
  for (let k = 0; k < 256; k++) {
    context.fillStyle = `rgb(${above.map((x, i) => Math.round(x + k / 255 * (below[i] - x))).join()})`;
    context.fillRect(0, k, 1, 1);
  }
  return Uint8Array.from(atob(canvas.toDataURL("image/png").split(",")[1]), c => c.charCodeAt(0));
};
const background = () => {
  return { format: "png", rgb_data: sky(data.behind[state.dark].sky), depth_data: null };
};
const setDark = dark => {
  state.dark = darkBox.checked = dark;
  send({ type: "ThemeConfigurationMessage", titlebar_content: null, control_layout: "floating", control_width: "medium", show_logo: false,
    show_share_button: false, dark_mode: dark, colors: null }, { type: "BackgroundImageMessage", ...background() });
  const [cell, section] = data.behind[dark].lines.map(x => [x, x, x]);
  for (const name of nodesOf("grid")) setProps(name, { cell_color: cell, section_color: section });
  setProps("/light", { intensity: data.behind[dark].light });
  drawPlots();
};
const setUnits = si => { state.si = si; unitsBox.checked = !si; drawPlots(); tell(); tellLevel(); tellJoints(); };

// --- joints of a pose, which sliders move: X_WB = X_WA X_AJ T(q) X_BJ⁻¹ (posing.py) -------------------------------------------------
const times = ([a, b, c, d], [A, B, C, D]) =>
  [a * A - b * B - c * C - d * D, a * B + b * A + c * D - d * C, a * C - b * D + c * A + d * B, a * D + b * C - c * B + d * A];
const about = (axis, x) => { const q = [Math.cos(x / 2), 0, 0, 0]; q[axis + 1] = Math.sin(x / 2); return q; };
const ofVector = phi => {  // exp(φ/2)
  const x = norm(phi), s = x > 1e-9 ? Math.sin(x / 2) / x : 0.5;
  return [Math.cos(x / 2), ...phi.map(y => s * y)];
};
const vectorOf = q => {  // φ, of the shorter turn
  const [w, ...u] = q[0] < 0 ? q.map(x => -x) : q, s = norm(u);
  return u.map(x => s > 1e-12 ? 2 * Math.atan2(s, w) / s * x : 2 * x);
};
const stand = q => {
  const found = [];
  for (const [body, parent, [pA, qA], steps, [pB, qB]] of data.posing.joints) {
    const a = parent < 0 ? { p: [0, 0, 0], q: [1, 0, 0, 0] } : found[parent];
    let p = plus(a.p, turned(a.q, pA)), r = times(a.q, qA);
    for (const [what, axis, column, factor, offset] of steps) {
      const x = factor * q[column] + offset;
      if (what === "quaternion") r = times(r, factor < 0 ? back(q.slice(column, column + 4)) : q.slice(column, column + 4));
      else if (what === "turn") r = times(r, about(axis, x));
      else p = plus(p, turned(r, [0, 1, 2].map(k => k === axis ? x : 0)));
    }
    const turn = times(r, back(qB)), size = norm(turn);
    found.push(posed[body] = { p: plus(p, turned(turn, pB), -1), q: turn.map(x => x / size) });
  }
};
const putNode = (name, position, wxyz = [1, 0, 0, 0]) => {
  changed.pose[name] = { position, wxyz };
  send({ type: "SetPositionMessage", name, position }, { type: "SetOrientationMessage", name, wxyz });
};
const linked = ([, a, pA, b, pB, length, along]) => {  // where a spring or a rod stands: links.py
  const t = data.start, from = inWorld(a, pA, t), seenFrom = ([body, v]) => turned(pose(body, t).q, v);
  let to = inWorld(b, pB, t);
  if (along.length) {
    const n = along.slice(1).reduce((sum, one) => cross(sum, seenFrom(one)), seenFrom(along[0])), size = norm(n);
    to = plus(from, n, size > 1e-12 ? length / size : 0);
  }
  const far = norm(plus(to, from, -1)), z = far > 1e-12 ? plus(to, from, -1).map(x => x / far) : [0, 0, 1];
  const turn = 1 + z[2] < 1e-9 ? [0, 1, 0, 0] : [1 + z[2], -z[1], z[0], 0], size = norm(turn);
  return { batched_positions: Float32Array.from(from), batched_wxyzs: Float32Array.from(turn.map(x => x / size)),
    batched_scales: Float32Array.from([1, 1, Math.max(far, 1e-9) / length]) };
};
const putJoints = q => {
  stand(q);
  const { batches, names, links, singles } = data.posing.nodes;
  for (const [name, all] of batches) setProps(name, {
    batched_positions: Float32Array.from(all.flatMap(([body, p]) => inWorld(body, p, data.start))),
    batched_wxyzs: Float32Array.from(all.flatMap(([body, , turn]) => times(pose(body, data.start).q, turn))),
  });
  for (const link of links) setProps(link[0], linked(link));
  for (const [name, body] of singles) putNode(name, pose(body, data.start).p, pose(body, data.start).q);
  for (const [name, body, p] of names) putNode(name, inWorld(body, p, data.start));
  send({ type: "SetPositionMessage", name: "/motion", position: shift(data.start) });
  marked = "";
  tell();
};

// --- camera -------------------------------------------------------------------------------------------------------------
const inThree = p => {  // the root turns the model's axes into those of the window's scene
  const e = viser().nodeRefFromName["/motion"].matrixWorld.elements;
  return [0, 1, 2].map(k => e[k] * p[0] + e[4 + k] * p[1] + e[8 + k] * p[2]);
};
const aim = side => {
  const [eye, target] = data.views[state.parallel][side], box = viser().canvas.getBoundingClientRect();
  const far = side || !data.shared ? Math.max(1, box.height / box.width) : 1;
  const at = plus(target, drift());
  viser().cameraControl.setLookAt(...inThree(plus(at, plus(eye, target, -1), far)), ...inThree(at), false);
};
const setParallel = parallel => {  // the eye stays where it is (scene.js)
  state.parallel = parallelBox.checked = parallel;
  const { position } = changed.pose[data.lens] = { position: [Number(parallel), data.size, 0], wxyz: [1, 0, 0, 0] };
  send({ type: "SetPositionMessage", name: data.lens, position });
};

// --- what is marked in the scene: the outline of the selected body, the axes of the selected joint, the measured points ---------------
const SVG = "http://www.w3.org/2000/svg", marks = document.createElementNS(SVG, "svg");
marks.id = "nexdyn-marks";
marks.setAttribute("aria-hidden", "true");
document.body.append(marks);
const seenAt = (box, move) => p => {  // where in the window's scene a point is seen, or null behind the eye
  const { camera } = viser(), v = camera.position.clone().set(...p).applyMatrix4(move);
  const ahead = state.parallel || v.clone().applyMatrix4(camera.matrixWorldInverse).z < 0;
  v.project(camera);
  return ahead ? [(v.x + 1) / 2 * box.width, (1 - v.y) / 2 * box.height] : null;
};
const hull = points => {  // Andrew's monotone chain
  const all = points.filter(p => p).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = list => list.reduce((kept, p) => {
    const turn = (a, b) => (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
    while (kept.length > 1 && turn(kept.at(-2), kept.at(-1)) <= 0) kept.pop();
    return [...kept, p];
  }, []);
  return all.length < 3 ? all : [...half(all).slice(0, -1), ...half(all.reverse()).slice(0, -1)];
};
const MOST_VERTICES = 800;
const outline = (body, t, see) => {
  const { p, q } = pose(body, t), points = [], surface = surfaces();
  for (const [node, of, turn, place] of sized(t).pieces) {
    const vertices = of === body && surface(node).vertices;
    if (!vertices) continue;
    const step = 3 * Math.max(1, Math.ceil(vertices.length / 3 / MOST_VERTICES));
    for (let k = 0; k < vertices.length; k += step)
      points.push(see(plus(p, turned(q, plus(place, turned(turn, [...vertices.subarray(k, k + 3)]))))));
  }
  return `<polygon fill="none" stroke="#fa8c0a" stroke-width="2.5" points="${hull(points).map(x => x.map(y => y.toFixed(1))).join(" ")}"/>`;
};
let marked = "";
const mark = (t, box) => {
  const root = viser().nodeRefFromName?.["/motion"];
  if (!root || !viser().camera) return;
  const eye = viser().camera.matrixWorld.elements, now = [state.key, state.points.length, t, box.x, box.y, box.width, box.height, ...eye,
    ...viser().camera.projectionMatrix.elements, root.matrixWorld.elements[12], root.matrixWorld.elements[13], root.matrixWorld.elements[14]].join();
  if (now === marked) return;
  marked = now;
  Object.assign(marks.style, { left: `${box.x}px`, top: `${box.y}px`, width: `${box.width}px`, height: `${box.height}px` });
  const see = seenAt(box, root.matrixWorld), [kind, ...rest] = state.key.split(":"), name = rest.join(":"), parts = [];
  const line = (a, b, color) => a && b && parts.push(`<line x1="${a[0]}" y1="${a[1]}" x2="${b[0]}" y2="${b[1]}" stroke="${color}" stroke-width="3"/>`);
  if (kind === "body") parts.push(outline(name, t, see));
  if (kind === "joint") {
    const { child, p, q } = cardOf(state.key, t), origin = see(inWorld(child, p, t));
    ["#d62728", "#2ca02c", "#1f77b4"].forEach((color, k) =>
      line(origin, see(inWorld(child, plus(p, turned(q, [0, 1, 2].map(m => m === k ? 0.15 * data.size : 0))), t)), color));
  }
  const points = state.points.map(x => see(inWorld(x.body, x.p, t)));
  points.forEach((x, k) => {
    line(points[k - 1], x, "#0096c8");
    if (x) parts.push(`<circle cx="${x[0]}" cy="${x[1]}" r="4" fill="#0096c8"/><text x="${x[0] + 6}" y="${x[1] - 6}" fill="#0096c8"
      font-family="sans-serif" font-size="13" font-weight="700">${String.fromCharCode(65 + k)}</text>`);
  });
  marks.innerHTML = parts.join("");
};

// --- the panel ----------------------------------------------------------------------------------------------------------
const button = (label, act, hint = "") => make("button", { type: "button", textContent: w(label), title: hint, onclick: act });
const box = (label, checked, act, name = w(label)) => {
  const input = make("input", { type: "checkbox", checked, onchange: () => act(input.checked) });
  return [make("label", {}, input, ` ${name}`), input];
};
const range = (label, given, act) => {
  const input = make("input", { type: "range", ariaLabel: w(label), ...given, oninput: () => act(Number(input.value)) });
  return [make("label", {}, `${w(label)} `, input), input];
};
const choice = (label, options, act) => {
  const list = make("select", { ariaLabel: w(label), onchange: () => act(list.value) }, ...options.map(([value, textContent]) => make("option", { value, textContent })));
  return [make("label", {}, `${w(label)} `, list), list];
};
const chosen = make("div"), differs = make("div"), measured = make("div");
const selectedBody = () => {  // or the child of the selected joint
  const [kind, ...rest] = state.key.split(":"), body = kind === "joint" ? data.cards[state.key].child : rest.join(":");
  return body === "ground" ? "" : body;
};
const followSelected = () => { if (selectedBody()) setFollow(state.follow === selectedBody() ? "" : selectedBody()); };
let led = "", ledFrom = "";  // what is followed because it was selected, and what was before
const choose = key => {
  select(key);
  if (!alongBox.checked) return;
  const body = selectedBody();
  if (body) { if (!state.follow || state.follow !== led) ledFrom = state.follow; led = body; }
  else if (!state.follow || state.follow !== led) return;
  else led = "";
  const next = body || ledFrom;
  if (next !== state.follow) setFollow(next, true);
};
const measureSelected = () => {
  const [kind, ...rest] = state.key.split(":"), it = cardOf(state.key, time());
  if (kind === "body") measure({ body: rest.join(":"), p: it.fixed.at(-1)[1] });
  else if (kind === "joint") measure({ body: it.child, p: it.p });
};
const withSelected = make("div", {}, button("Follow", followSelected, "F"), ...data.moves ? [button("Plot it", () => plotSelected())] : [],
  button("Measure from it", measureSelected, "M"), button("Deselect", () => choose("")));
const clear = button("Clear points", () => { state.points = []; tell(); });
const [alongLabel, alongBox] = box("follow what is selected", true, () => {});
aside.append(chosen, alongLabel, withSelected, differs, measured, clear);
let said = "";
const tell = () => {
  const t = time(), parts = [card(t), apart(t), ruler(t)], now = parts.join("");
  withSelected.hidden = !state.key;
  clear.hidden = !state.points.length;
  if (now === said) return;
  said = now;
  [chosen, differs, measured].forEach((place, k) => { place.innerHTML = parts[k]; });
};

const tabs = make("div", { role: "tablist" }), panels = {};
const shownFirst = data.moves ? "Plots" : data.posing ? "Joints" : "Model";
for (const name of [...data.posing ? ["Joints"] : [], "Plots", "Model", "Show"]) {
  const panel = panels[name] = make("div", { role: "tabpanel", hidden: name !== shownFirst });
  const tab = button(name, () => {
    for (const [other, one] of Object.entries(panels)) one.hidden = other !== name;
    for (const one of tabs.children) one.setAttribute("aria-selected", one === tab);
  });
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-selected", name === shownFirst);
  tab.hidden = name === "Plots" && !data.moves;  // of a pose there are none
  tabs.append(tab);
}
aside.append(tabs, ...Object.values(panels));
panels.Model.innerHTML = data.tree;

const sides = ["front", "right", "top", "corner", "back", "left", "bottom"];
const [parallelLabel, parallelBox] = box("parallel", data.parallel, setParallel), [darkLabel, darkBox] = box("dark", data.dark, setDark);
const [unitsLabel, unitsBox] = box("mm, degrees", !data.si, on => setUnits(!on));
const [followLabel, follows] = choice("follow", [["", w("(nothing)")], ...data.bodies.map(x => [x, x])], setFollow);
const [opacityLabel, opacity] = range("opacity", { min: 0.1, max: 1, step: 0.05 }, setOpacity);
const [sideLabel, side] = choice("cut away", [["", w("(nothing)")], ...Object.keys(data.sections).map(x => [x, `${x.at(-1)} ${x[0] === "-" ? "<" : ">"}`])],
  x => setSection(x ? [x, state.section?.[0].at(-1) === x.at(-1) ? state.section[1] : data.center["xyz".indexOf(x.at(-1))]] : null));
const [levels, levelBox] = range("plane at", {}, at => setSection([state.section[0], at / told([1], "m")[0][0]]));
const tellLevel = () => {  // in the chosen units
  const [[factor], unit] = told([1], "m"), label = `${w("plane at")} [${unit}]`;
  levelBox.ariaLabel = label;
  levels.firstChild.textContent = `${label} `;
  if (!state.section) return;
  const middle = data.center["xyz".indexOf(state.section[0].at(-1))];
  Object.assign(levelBox, { min: factor * (middle - 0.6 * data.size), max: factor * (middle + 0.6 * data.size), step: factor * data.size / 1000 });
  levelBox.value = factor * state.section[1];
};
const [arrowsLabel, arrows] = range("arrow length", { min: 0.1, max: 10, step: 0.1 }, x => { state.arrows = x; refit(); });
const [trailLabel, trail] = range("trail [s]", { min: 0.1, max: 10, step: 0.1 }, x => { state.trail = x; refit(); });
arrows.value = state.arrows;
trail.value = state.trail;
const joints = [];  // sliders of a pose, and what tells them anew
const standing = [...data.posing?.q ?? []];
const tellJoints = () => joints.forEach(one => one.tell());
for (const { label, unit, range: [min, max], column, axis } of data.posing?.dials ?? []) {
  const shows = make("output"), put = x => {
    if (axis < 0) standing[column] = x;
    else {
      const phi = vectorOf(standing.slice(column, column + 4));
      phi[axis] = x;
      standing.splice(column, 4, ...ofVector(phi));
    }
    putJoints(standing);
    tellJoints();
  };
  const value = () => axis < 0 ? standing[column] : vectorOf(standing.slice(column, column + 4))[axis];
  const [one, input] = range(label, { min, max, step: (max - min) / 1000 }, put);
  const tellOne = () => { const [[x], named] = told([value()], unit); shows.textContent = ` ${number(x)} ${named}`; if (document.activeElement !== input) input.value = value(); };
  one.append(shows);
  one.className = "nexdyn-dial";
  joints.push({ tell: tellOne });
  panels.Joints.append(one);
}
if (data.posing?.more) panels.Joints.append(make("p", { className: "nexdyn-said", textContent: w("and {} more").replace("{}", data.posing.more) }));
tellJoints();
const reset = () => { if (data.posing) { standing.splice(0, Infinity, ...data.posing.q); putJoints(standing); tellJoints(); } seek(data.start); if (!asRecorded()) setFollow(data.follow); aim(""); };
const full = button("Full screen", () => {}, "Z");
full.dataset.nexdynDo = "fullscreen";
panels.Show.append(make("div", {}, `${w("view")} `, ...sides.map((name, k) => button(name, () => aim(name), String(k + 1)))),
  make("div", {}, button("Reset", reset, "R"), full), parallelLabel, darkLabel, unitsLabel, followLabel, opacityLabel, sideLabel, levels);
const boxes = {};
for (const [layer, [name, on, recorded]] of Object.entries(data.layers)) {
  const [label, input] = box(layer, on, now => setLayer(layer, now), recorded || on ? name : `${name} (${w("not recorded")})`);
  input.disabled = !recorded && !on;
  boxes[layer] = input;
  panels.Show.append(label);
}
const ghosts = data.drawn.flatMap(x => x.ghosts);
const isRecorded = layer => { const [, on, kept] = data.layers[layer] ?? []; return on || kept; };
if (["reaction forces", "reaction moments", "contact forces"].some(isRecorded)) panels.Show.append(arrowsLabel);
if (data.moves && isRecorded("trails")) panels.Show.append(trailLabel);
if (ghosts.length) panels.Show.append(box("ghost", true, on => setVisible(ghosts, on))[0]);
opacity.value = state.opacity;
follows.value = state.follow;
levels.hidden = !state.section;
tellLevel();

const keys = {
  r: reset, p: () => setParallel(!state.parallel), d: () => setDark(!state.dark), u: () => setUnits(!state.si), f: followSelected, m: measureSelected,
  t: () => setOpacity(state.opacity === 1 ? 0.3 : 1), ".": () => seek(time() + data.step), ",": () => seek(time() - data.step),
};
sides.forEach((name, k) => { keys[k + 1] = () => aim(name); });
window.addEventListener("keydown", event => {
  const typing = event.target?.closest?.("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]");
  const act = typing || event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key.toLowerCase()];
  if (!act) return;
  event.stopImmediatePropagation();  // D is a key of viser's camera, too
  if (!event.repeat || ".,".includes(event.key)) act();
}, true);

// --- plots: those that always stand there, what is kept, and what the menus show, as plotting.py has them ----------------------------
const { first, kinds, kept, colors: COLORS, selected: OF_SELECTED } = data.plots, plots = [];  // plots: what is drawn, and where
const MOST_PLOTS = 24, MOST_SAMPLES = 300;
const filled = (panel, key) => {  // a panel with its curves
  const at = ([, begin, apart]) => data.times.map((_, j) => values[begin + j * apart]);
  return { ...panel, key, t: panel.t ?? data.times, series: panel.curves.map((curve, k) => ({
    label: curve[0], color: COLORS[k % COLORS.length], y: Array.isArray(curve[1]) ? curve[1] : at(curve) })) };
};
const inUnits = plot => {  // what is plotted, in the chosen units
  const [, before, unit] = plot.y.match(/^(.*)\[(.*)\]$/) ?? [, plot.y, ""], [[factor], named] = told([1], unit);
  const short = x => x === null || !Number.isFinite(x) ? null : Number((factor * x).toPrecision(7));
  const series = plot.series.map(s => ({ ...s, y: s.y.map(short) }));
  return { ...plot, title: plot.title.replace(` in ${unit}`, ` in ${named}`), y: unit ? `${before}[${named || "1"}]` : plot.y, series };
};
const telling = ({ t, series }) => {  // samples that show the course: evenly spaced ones, and where a curve is least or largest (panels.py)
  const n = t.length;
  if (n <= 2 * MOST_SAMPLES) return t.map((_, k) => k);
  const stretches = Math.max(1, Math.floor(MOST_SAMPLES / series.length)), kept = new Set();
  for (let k = 0; k < MOST_SAMPLES; k++) kept.add(Math.floor(k * (n - 1) / (MOST_SAMPLES - 1)));
  for (let k = 0; k < stretches; k++) {
    const [from, to] = [k, k + 1].map(x => Math.floor(x * n / stretches));
    for (const { y } of series) {
      let [low, high] = [from, from];
      for (let j = from; j < to; j++) { if (y[j] < y[low]) low = j; if (y[j] > y[high]) high = j; }
      kept.add(low).add(high);
    }
  }
  return [...kept].sort((a, b) => a - b);
};
const colors = () => state.dark ? { paper: "#1a1b1e", ink: "#ddd", lines: "#3a3c42", now: "#bbb" } : { paper: "#fff", ink: "#222", lines: "#e4e4e4", now: "#444" };
const legendRows = (plot, width) =>  // how many there are, by the widths of the names
  plot.series.length > 1 ? Math.ceil(plot.series.reduce((sum, s) => sum + 52 + 7 * s.label.length, 0) / (width - 76)) : 0;
const layout = (plot, t) => {
  const { paper, ink, lines, now } = colors();
  return {
    title: { text: text(plot.title), font: { size: 13 } }, height: 220 + 20 * Math.max(1, legendRows(plot, 400)), margin: { l: 60, r: 16, t: 28, b: 36 }, paper_bgcolor: paper,
    plot_bgcolor: paper, font: { color: ink }, xaxis: { title: { text: plot.x, standoff: 4 }, gridcolor: lines, range: zoom ?? undefined },
    yaxis: { title: { text: plot.y, standoff: 4 }, gridcolor: lines }, legend: { orientation: "h", y: -0.25 },
    showlegend: plot.series.length > 1, hovermode: "x",
    shapes: [{ type: "line", xref: "x", yref: "paper", x0: t, x1: t, y0: 0, y1: 1, line: { color: now, width: 1.2 } }],
  };
};
let zoom = null;
const draw = one => {
  const plot = inUnits(one.plot), rows = telling(plot), x = rows.map(k => plot.t[k]);
  const traces = plot.series.map(s => ({ x, y: rows.map(k => s.y[k]), name: text(s.label), mode: "lines", line: { color: s.color, width: 1.5 } }));
  window.Plotly.react(one.place, traces, layout(plot, time()), { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["lasso2d", "select2d"] });
};
const drawPlots = () => { if (window.Plotly) plots.forEach(draw); };
const addPlot = plot => {
  const place = make("div", { className: "nexdyn-plot", tabIndex: 0, role: "group", ariaLabel: `${plot.title}, ${w(ZOOM_KEYS)}` }), one = { plot, place };
  place.addEventListener("keydown", event => zoomByKey(event, one));
  plots.push(one);
  shelf.append(place);
  draw(one);
  place.on("plotly_click", event => seek(event.points[0].x));
  place.on("plotly_relayout", event => {  // zoomed together
    const now = event["xaxis.autorange"] ? null : event["xaxis.range"] ?? [event["xaxis.range[0]"], event["xaxis.range[1]"]];
    if (now && now[0] === undefined) return;
    zoom = now;
    for (const other of plots) if (other !== one && !same(other.place)) window.Plotly.relayout(other.place, now ? { "xaxis.range": [...now] } : { "xaxis.autorange": true });
  });
};
const ZOOM_KEYS = "plus and minus zoom, 0 shows all, left and right arrows move";
const ZOOMS = { "+": [0.5, 0], "=": [0.5, 0], "-": [2, 0], "_": [2, 0], "0": [Infinity, 0], ArrowLeft: [1, -0.25], ArrowRight: [1, 0.25] };
const zoomByKey = (event, { plot, place }) => {  // as on the page (page.js)
  const keys = ZOOMS[event.key];
  if (!keys || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  const [first, last] = [plot.t[0], plot.t.at(-1)], [min, max] = zoom ?? [first, last], [factor, by] = keys, t = time();
  const wide = Math.min(factor * (max - min), last - first), middle = factor === 1 ? (min + max) / 2 + by * (max - min) : t >= min && t <= max ? t : (min + max) / 2;
  const low = Math.min(Math.max(middle - wide / 2, first), last - wide);
  window.Plotly.relayout(place, wide < last - first ? { "xaxis.range": [low, low + wide] } : { "xaxis.autorange": true });
};
const same = place => {
  const { autorange, range } = place.layout.xaxis;
  return zoom ? !autorange && range?.[0] === zoom[0] && range?.[1] === zoom[1] : autorange !== false;
};
const offered = kind => [["", data.plots.all], ...Object.keys(kinds[kind]?.[1] ?? {}).filter(x => x).map(x => [x, x])];
const options = all => all.map(([value, textContent]) => make("option", { value, textContent }));
const [kindLabel, kindList] = choice("plot", Object.entries(kinds).map(([kind, [word]]) => [kind, word]), () => {
  ofList.replaceChildren(...options(offered(kindList.value)));
  showChosen();
});
const [ofLabel, ofList] = choice("of", offered(kindList.value), () => showChosen());
const shelf = make("div"), rest = make("p", { className: "nexdyn-said" });
const isKept = (kind, of) => kept.some(x => x[0] === kind && x[1] === of);
const keepPlots = more => { kept.push(...more.filter(x => !isKept(...x))); showPlots(); };
const dropButton = button("Drop kept plots", () => { kept.length = 0; showPlots(); });
const menus = make("div", { id: "nexdyn-menus", hidden: !kindList.value }, kindLabel, ofLabel, button("Keep this plot", () => keepPlots([[kindList.value, ofList.value]])), dropButton);
const showPlots = () => {
  const menu = [kindList.value, ofList.value], wanted = first.map((panel, k) => [panel, `first ${k}`]);
  for (const [kind, of] of isKept(...menu) ? kept : [menu, ...kept])
    (kinds[kind]?.[1][of] ?? []).forEach((panel, k) => wanted.push([panel, JSON.stringify([kind, of, k])]));
  const most = wanted.slice(0, MOST_PLOTS), keys = new Set(most.map(x => x[1]));
  for (const one of plots.filter(x => !keys.has(x.plot.key))) {
    plots.splice(plots.indexOf(one), 1);
    window.Plotly.purge(one.place);
    one.place.remove();
  }
  for (const [panel, key] of most) {
    const one = plots.find(x => x.plot.key === key);
    if (one) { plots.push(...plots.splice(plots.indexOf(one), 1)); shelf.append(one.place); } else addPlot(filled(panel, key));
  }
  rest.textContent = wanted.length > MOST_PLOTS ? w("and {} more").replace("{}", wanted.length - MOST_PLOTS) : "";
  dropButton.hidden = !kept.length;
};
const toPlot = (kind, of) => plots.find(one => one.plot.key === JSON.stringify([kind, of, 0]))?.place.scrollIntoView({ block: "nearest" });
const showChosen = () => { showPlots(); toPlot(kindList.value, ofList.value); };
const plotSelected = () => {
  const [kind, ...rest] = state.key.split(":"), name = rest.join(":");
  const more = OF_SELECTED[kind].filter(what => kinds[what]?.[1][name]).map(what => [what, name]);
  keepPlots(more);
  tabs.children[0].click();
  if (more.length) toPlot(...more[0]);
};

const keep = (content, kind, suffix) => {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type: kind })), download: `${data.name.replace(/[ /]/g, "-")}.${suffix}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1e4);
};
const quoted = x => /[",\n]/.test(x) ? `"${x.replaceAll('"', '""')}"` : x;
const csv = () => {  // a column a curve, at all times at which one is told
  const all = plots.map(one => inUnits(one.plot)), curves = all.flatMap(plot => plot.series.map(s => ({ plot, s, by: new Map(plot.t.map((t, k) => [t, s.y[k]])) })));
  const times = [...new Set(all.flatMap(plot => plot.t))].sort((a, b) => a - b);
  const head = [w("time [s]"), ...curves.map(({ plot, s }) => `${plot.title}: ${s.label} [${plot.y.split("[").at(-1)}`)].map(quoted).join();
  return [head, ...times.map(t => [t, ...curves.map(({ by }) => by.get(t) ?? "")].join())].join("\n") + "\n";
};
const IMAGE = 700;
const heights = () => plots.map(one => 240 + 20 * Math.max(1, legendRows(one.plot, IMAGE)));
const from = high => high.map((_, k) => high.slice(0, k).reduce((sum, x) => sum + x, 0));  // where each begins, one below the other
const images = (format, high) =>
  Promise.all(plots.map((one, k) => window.Plotly.toImage(one.place, { format, width: IMAGE, height: high[k], scale: format === "png" ? 2 : 1 })));
const svg = async () => {
  const high = heights(), at = from([...high, 0]);
  const parts = (await images("svg", high)).map((x, k) => decodeURIComponent(x.slice(x.indexOf(",") + 1)).replace("<svg ", `<svg y="${at[k]}" `));
  return `<svg xmlns="${SVG}" width="${IMAGE}" height="${at.at(-1)}">${parts.join("")}</svg>`;
};
const png = async () => {
  const high = heights(), at = from([...high, 0]);
  const parts = await Promise.all((await images("png", high)).map(async src => { const image = new Image(); image.src = src; await image.decode(); return image; }));
  const canvas = make("canvas", { width: 2 * IMAGE, height: 2 * at.at(-1) }), context = canvas.getContext("2d");
  parts.forEach((image, k) => context.drawImage(image, 0, 2 * at[k]));
  return new Promise(done => canvas.toBlob(done, "image/png"));
};
panels.Plots.append(menus, make("div", {}, `${w("save")} `, button("CSV", () => keep(csv(), "text/csv", "csv")),
  button("PNG", async () => keep(await png(), "image/png", "png")), button("SVG", async () => keep(await svg(), "image/svg+xml", "svg"))), rest, shelf);

// --- members of a batch: another one is shown by the page that is loaded anew, as this one is --------------------------------------------
const asItIs = () => {
  const { camera, cameraControl } = viser(), target = camera.position.clone();
  cameraControl.getTarget(target);
  const layers = Object.fromEntries(Object.entries(data.layers).map(([layer, [, on]]) => [layer, on]));
  const { key, opacity, section, follow, place, still, parallel, dark, si, arrows, trail } = state;
  return { key, arrows, trail, opacity, section, follow, place, still, parallel, dark, si, layers, kept, menu: [kindList.value, ofList.value],
    tab: [...tabs.children].findIndex(tab => tab.getAttribute("aria-selected") === "true"),
    eye: camera.position.toArray(), target: target.toArray(), t: performance.now() - moved > 400 ? time() : null };
};
const showMember = member => {
  window.name = `nexdyn ${JSON.stringify({ ...asItIs(), member })}`;
  location.reload();
};
const asItWas = given => {
  if (given.member === undefined) return;
  if (given.parallel !== state.parallel) setParallel(given.parallel);
  if (given.dark !== state.dark) setDark(given.dark);
  if (given.si !== state.si) setUnits(given.si);
  if (given.opacity !== state.opacity) setOpacity(given.opacity);
  Object.assign(state, { arrows: given.arrows, trail: given.trail });
  arrows.value = state.arrows;
  trail.value = state.trail;
  refit();
  if (given.section?.join() !== state.section?.join()) setSection(given.section);
  if (given.follow !== state.follow || given.place || given.still.some(x => x)) {
    setFollow(given.follow);
    Object.assign(state, { place: given.place, still: given.still });
  }
  for (const [layer, on] of Object.entries(given.layers))
    if (data.layers[layer] && on !== data.layers[layer][1]) { setLayer(layer, on); boxes[layer].checked = on; }
  viser().cameraControl.setLookAt(...given.eye, ...given.target, false);
  if (given.t !== null) seek(given.t);
  select(given.key);
  tabs.children[given.tab]?.click();
};
if (among) {
  const [label, list] = choice("member", [], member => showMember(Number(member)));
  list.append(...among.members.map(([number, name]) => make("option", { value: number, textContent: name })));
  if (among.others) list.append(make("option", { disabled: true, textContent: `${w("and {} more").replace("{}", among.others)} (${w("not recorded")})` }));
  list.value = among.member;
  aside.querySelector("p").after(label);
}

// --- what goes on -------------------------------------------------------------------------------------------------------
let last = NaN, drawn = 0, moved = performance.now();
const go = now => {
  const t = time(), box = viser()?.canvas?.getBoundingClientRect();
  shown.value = t.toFixed(data.decimals);
  handle.value = t;
  if (t !== last && now - drawn > 60) {
    last = t; drawn = moved = now;
    for (const { place } of plots) if (place.layout) window.Plotly.relayout(place, { "shapes[0].x0": t, "shapes[0].x1": t });
    tell();
  }
  if (box) mark(t, box);
  requestAnimationFrame(go);
};
const begin = async () => {
  values = new Float32Array(await (await unpacked(part("nexdyn-numbers"))).arrayBuffer());
  tell();
  requestAnimationFrame(go);
  const program = make("script", { textContent: await (await unpacked(element("nexdyn-plotly"))).text() });
  document.head.append(program);
  if (among?.given.menu) {
    kept.splice(0, kept.length, ...among.given.kept);
    kindList.value = among.given.menu[0];
    ofList.replaceChildren(...options(offered(kindList.value)));
    ofList.value = among.given.menu[1];
  }
  showPlots();
};
const ready = () => {  // the scene, its camera and the player stand
  const stands = viser()?.cameraControl && viser().nodeRefFromName?.["/motion"] && document.querySelector("#root input") && caught;
  if (stands) requestAnimationFrame(() => requestAnimationFrame(() => asItWas(among.given))); else setTimeout(ready, 50);
};
if (among?.given.menu) ready();
begin();
