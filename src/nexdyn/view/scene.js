// The part of the page, and of recordings, that stands on the scene itself: the scale of pressures, the cube of views, the picture without
// perspective, what is seen through bodies, and what a section takes away.
{
  const viser = () => window.__viserMutable;
  const place = name => viser()?.nodePoseData?.[name]?.position;
  const nodes = what => {  // of recordings with several sizes in a group for each
    const all = viser()?.nodeRefFromName ?? {}, groups = Object.keys(all).filter(name => /^\/motion\/sizes\d+$/.test(name));
    return (groups.length ? groups.map(group => all[what.replace("/motion", group)]) : [all[what]]).filter(x => x);
  };
  const chinese = document.documentElement.lang === "zh";
  const style = document.createElement("style");
  style.textContent = `
    #nexdyn-scale { position: fixed; z-index: 5; pointer-events: none; padding: 4px 8px 3px; border-radius: 4px; width: 190px;
      background: rgba(255, 255, 255, 0.85); color: #222; font: 12px sans-serif; box-sizing: border-box; }
    #nexdyn-scale div { height: 9px; margin: 3px 0 1px; }
    #nexdyn-scale span { display: inline-block; width: 33.33%; font-variant-numeric: tabular-nums; white-space: nowrap; }
    #nexdyn-scale span:nth-of-type(2) { text-align: center; }
    #nexdyn-scale span:nth-of-type(3) { text-align: right; direction: rtl; unicode-bidi: plaintext; }
    [data-mantine-color-scheme=dark] #nexdyn-scale { background: rgba(30, 32, 36, 0.85); color: #ddd; }`;
  style.textContent += `
    #nexdyn-cube { position: fixed; z-index: 5; width: ${1.75 * 52}px; height: ${1.75 * 52}px; pointer-events: none; opacity: 0.9; }
    #nexdyn-cube div { position: absolute; left: ${0.375 * 52}px; top: ${0.375 * 52}px; width: 52px; height: 52px; pointer-events: auto;
      cursor: pointer; display: flex; align-items: center; justify-content: center; font: 12px sans-serif; user-select: none;
      background: #e6e6e6; color: #333; border: 1px solid #999; box-sizing: border-box; }
    #nexdyn-cube div[hidden], #nexdyn-cube[hidden] { display: none; }
    #nexdyn-cube div:hover { background: #fff; }
    [data-mantine-color-scheme=dark] #nexdyn-cube div { background: #4a4d52; color: #eee; border-color: #777; }
    [data-mantine-color-scheme=dark] #nexdyn-cube div:hover { background: #6a6d72; }`;
  document.head.append(style);

  // --- materials -------------------------------------------------------------------------------------------------------
  const patched = new WeakSet();
  const patch = (material, key, code) => {  // one more line at the end of the lighting
    if (patched.has(material)) return;
    patched.add(material);
    const compile = material.onBeforeCompile, before = material.customProgramCacheKey();
    material.onBeforeCompile = function (shader, ...rest) {
      compile?.call(this, shader, ...rest);
      shader.fragmentShader = shader.fragmentShader.replace("#include <opaque_fragment>", `${code}\n#include <opaque_fragment>`);
    };
    material.customProgramCacheKey = () => `${key} ${before}`;
    material.needsUpdate = true;
  };
  const meshes = (root, act) => root?.traverse(x => {
    if (x.isMesh && x.material) for (const material of [x.material].flat()) act(x, material);
  });
  const above = (name, order) => nodes(name).forEach(node => meshes(node, (mesh, material) => {
    mesh.renderOrder = order;
    if (!material.transparent) { material.transparent = true; material.needsUpdate = true; }
    material.depthTest = material.depthWrite = false;
  }));
  // --- without perspective: eye, target and keys are those of viser's camera, what it sees goes through a projection of its own -----
  //   half the height of what is seen  h = |eye − target| tan(φ/2) : at the target it is as large as with perspective
  //   depths from |eye − target| − D to |eye − target| + D,  D = 20 sizes of the scene: also what is behind the eye is seen
  const DEEP = 20;
  const flattened = new WeakSet();
  let flat = false;
  const project = camera => {
    const [parallel, size] = place("/lens") ?? [0, 1];
    if (!(parallel > 0.5) && !flat) return;
    if (!flattened.has(camera)) {
      flattened.add(camera);
      const perspective = camera.updateProjectionMatrix;
      camera.updateProjectionMatrix = function () { perspective.call(this); if (flat) flatten(this); };
    }
    flat = parallel > 0.5;
    camera.updateProjectionMatrix();
    if (flat) viser().scene.traverse(x => { if (x.material?.uniforms?.uFovScale) writeAlike(x.material); });
  };
  const DISTANT = "(depth / 10.0) * uFovScale";
  const writeAlike = material => {  // names, which viser's shader writes larger the farther away they are, against perspective
    if (flattened.has(material)) return;
    flattened.add(material);
    material.vertexShader = material.vertexShader.replace(DISTANT,
      `(projectionMatrix[3][3] == 1.0 ? 0.1 / projectionMatrix[1][1] : ${DISTANT})`);
    material.needsUpdate = true;
  };
  const flatten = camera => {
    const far = viser().cameraControl.distance, deep = DEEP * place("/lens")[1];
    const high = far * Math.tan(camera.fov * Math.PI / 360) / camera.zoom, wide = high * camera.aspect;
    camera.projectionMatrix.makeOrthographic(-wide, wide, high, -high, far - deep, far + deep, camera.coordinateSystem,
      camera.reversedDepth ?? camera._reversedDepth ?? false);
    camera.projectionMatrixInverse.copy(camera.projectionMatrix).invert();
  };
  const before = (renderer, camera) => {
    if (camera === viser().camera) project(camera);
    above("/motion/pressure", 10);
    nodes("/motion/pressure").forEach(node => meshes(node, (_, material) =>
      patch(material, "nexdyn-unlit", "outgoingLight = diffuseColor.rgb;")));
    above("/motion/contacts", 11);
    section(renderer);
  };
  // --- a section: materials of bodies end at the plane, and their insides are seen in one darker colour ------------------------
  const BODIES = /^\/motion\/(?:sizes\d+\/)?(batch|body|link|collision|ghost|inertia)\d*$/;
  const cut = new Map();  // materials that end at the plane, with the side that they had
  let planes = null;
  const lifted = new Map();  // materials of arrows inside bodies, which their faces would hide
  const mend = () => {
    if (caps) caps.visible = false;
    for (const [material, depthTest] of lifted) material.depthTest = depthTest;
    lifted.clear();
    for (const [material, side] of cut) {
      material.clippingPlanes = null;
      material.side = side;
      material.needsUpdate = true;
    }
    cut.clear();
  };
  const section = renderer => {
    const node = viser().nodeRefFromName["/motion/section"];
    if (!node || Math.abs(place("/motion/section")?.[0] ?? Infinity) > 1e11) { if (cut.size || caps?.visible) mend(); return; }
    renderer.localClippingEnabled = true;
    // n·x ≤ d  in three's words  (−n)·x + d ≥ 0
    const [nx, ny, nz] = node.matrixWorld.elements.slice(8, 11), [x, y, z] = node.matrixWorld.elements.slice(12, 15);
    planes ??= plane();
    if (!planes) return;
    planes[0].normal.set(-nx, -ny, -nz).normalize();
    planes[0].constant = -(planes[0].normal.x * x + planes[0].normal.y * y + planes[0].normal.z * z);
    for (const [name, root] of Object.entries(viser().nodeRefFromName)) {
      if (!BODIES.test(name)) continue;
      meshes(root, (_, material) => {
        if (material.clippingPlanes === planes) return;
        if (!cut.has(material)) cut.set(material, material.side);
        patch(material, "nexdyn-inside", "if (!gl_FrontFacing) outgoingLight = 0.35 * diffuseColor.rgb;");
        material.clippingPlanes = planes;
        material.side = 2;
        material.needsUpdate = true;
      });
    }
    for (const node of ["/motion/forces", "/motion/moments"].flatMap(nodes)) meshes(node, (mesh, material) => {
      if (!lifted.has(material)) lifted.set(material, material.depthTest);
      material.depthTest = false;
      mesh.renderOrder = 11;
    });
    close([nx, ny, nz], planes[0].constant);
  };
  // --- the faces where it cuts closed surfaces, in the plane n·x = d; as in caps.py ------------------------------------------------
  const PIECE = /^\/motion\/(?:sizes\d+\/)?(body\d+\/piece|batch)\d+$/;
  const FACE = 0.5, MOST_WAYS = 3000, FINE = 1e-9, APART = 5e-5;
  let caps = null, cached = new Map(), shownCaps = "";
  const along = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const outline = (vertices, faces, n, d) => {  // ways in the plane: six numbers each
    const above = new Float64Array(vertices.length / 3), ways = [];
    let [some, all] = [false, true];
    for (let k = 0; k < above.length; k++) {
      above[k] = n[0] * vertices[3 * k] + n[1] * vertices[3 * k + 1] + n[2] * vertices[3 * k + 2] - d;
      if (above[k] > 0) some = true; else all = false;
    }
    if (!some || all) return ways;
    const crossed = (a, b) => {  // from what is kept
      const s = above[a] / (above[a] - above[b]);
      return [0, 1, 2].map(j => vertices[3 * a + j] + s * (vertices[3 * b + j] - vertices[3 * a + j]));
    };
    for (let k = 0; k < faces.length; k += 3) {
      let out = null, back = null;
      for (let j = 0; j < 3; j++) {
        const a = faces[k + j], b = faces[k + (j + 1) % 3];
        if (above[a] <= 0 && above[b] > 0) out = crossed(a, b);
        if (above[a] > 0 && above[b] <= 0) back = crossed(b, a);
      }
      if (out) ways.push([out, back]);
    }
    return ways;
  };
  const filled = (ways, u, v, n, d) => {  // triangles, nine numbers each; null where it is not closed
    if (!ways.length || ways.length > MOST_WAYS) return null;
    const flat = ways.map(([a, b]) => [along(a, u), along(a, v), along(b, u), along(b, v)]);
    let size = 0;
    for (const k of [0, 1]) { const x = flat.flatMap(w => [w[k], w[k + 2]]); size = Math.max(size, Math.max(...x) - Math.min(...x)); }
    if (!(size > 0)) return null;
    const step = FINE * size, found = [];
    for (const w of flat) for (const k of [1, 3]) w[k] = Math.round(w[k] / step) * step;
    const all = flat.filter(w => w[1] !== w[3]).sort((a, b) => Math.min(a[1], a[3]) - Math.min(b[1], b[3]));
    const heights = [...new Set(flat.flatMap(w => [w[1], w[3]]))].sort((a, b) => a - b);
    const x = (w, y) => w[0] + (w[2] - w[0]) * (y - w[1]) / (w[3] - w[1]);
    const point = (s, t) => found.push(...[0, 1, 2].map(k => s * u[k] + t * v[k] + d * n[k]));
    let next = 0, active = [];
    for (let k = 0; k + 1 < heights.length; k++) {
      const [low, high] = [heights[k], heights[k + 1]];
      while (next < all.length && Math.min(all[next][1], all[next][3]) <= low) active.push(all[next++]);
      active = active.filter(w => Math.max(w[1], w[3]) >= high).sort((a, b) => x(a, low) + x(a, high) - x(b, low) - x(b, high));
      let count = 0;
      active.forEach((w, j) => {
        const before = active[j - 1];
        if (count) {
          const [p, q, r, s] = [x(before, low), x(w, low), x(w, high), x(before, high)];
          point(p, low); point(q, low); point(r, high); point(p, low); point(r, high); point(s, high);
        }
        count += Math.sign(w[3] - w[1]);
      });
      if (count) return null;
    }
    return found;
  };
  const capOf = (key, { vertices, faces }, n, d) => {
    const known = cached.get(key);
    if (known && known.vertices === vertices && known.d === d && known.n.every((x, k) => x === n[k])) return known;
    const least = n.map(Math.abs).indexOf(Math.min(...n.map(Math.abs))), u = cross(n, [0, 1, 2].map(k => Number(k === least)));
    const size = Math.hypot(...u), right = u.map(x => x / size), found = filled(outline(vertices, faces, n, d), right, cross(n, right), n, d);
    let area = 0;
    for (let k = 0; found && k < found.length; k += 9) {
      const [e, g] = [3, 6].map(m => [0, 1, 2].map(j => found[k + m + j] - found[k + j]));
      area += Math.hypot(...cross(e, g));
    }
    const now = { n, d, vertices, found, area };
    cached.set(key, now);
    return now;
  };
  // of recordings: the face that is drawn of an instance of a node, in its own axes; null where there is none
  window.__nexdynFace = (name, i) => { const known = cached.get(`${name} ${i}`); return known?.found?.length ? known : null; };
  const unturned = (q, a) => {  // R(q)ᵀ a, q = (w, x, y, z)
    const u = [-q[1], -q[2], -q[3]], c = cross(u, a), e = cross(u, c);
    return a.map((x, k) => x + 2 * (q[0] * c[k] + e[k]));
  };
  const isSeen = node => { for (let x = node; x; x = x.parent) if (!x.visible) return false; return true; };
  const close = (normal, level) => {
    const tree = window.__viserSceneTree?.getState?.() ?? {}, all = [], keys = new Set();
    for (const name of Object.keys(tree)) {
      const props = PIECE.test(name) && tree[name]?.message?.props, node = viser().nodeRefFromName[name];
      if (!props?.vertices || !node || !isSeen(node) || (props.opacity ?? 1) < 1 || props.batched_opacities) continue;
      const e = node.matrixWorld.elements, n = [0, 4, 8].map(k => along(normal, e.slice(k, k + 3))), d = level - along(normal, e.slice(12, 15));
      const many = props.batched_positions ? props.batched_positions.length / 3 : 0;
      for (let i = 0; i < (many || 1); i++) {
        const q = many ? [...props.batched_wxyzs.subarray(4 * i, 4 * i + 4)] : [1, 0, 0, 0];
        const p = many ? [...props.batched_positions.subarray(3 * i, 3 * i + 3)] : [0, 0, 0];
        const key = `${name} ${i}`, one = capOf(key, props, unturned(q, n), d - along(n, p));
        keys.add(key);
        if (!one.found?.length) continue;
        const own = many ? props.batched_colors.length > 3 ? props.batched_colors.subarray(3 * i, 3 * i + 3) : props.batched_colors : props.color;
        const light = x => many ? x / 255 : x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4;
        all.push({ ...one, key, q: back(q), p, e, color: [...own].map(x => FACE * light(x)) });
      }
    }
    for (const key of cached.keys()) if (!keys.has(key)) cached.delete(key);
    const size = place("/lens")?.[1] ?? 1, count = all.reduce((sum, x) => sum + x.found.length, 0);
    const position = new Float32Array(count), color = new Float32Array(count);
    let at = 0;
    all.sort((a, b) => b.area - a.area).forEach(({ found, q, p, e, color: own }, rank) => {  // smaller faces lie before larger ones
      for (let k = 0; k < found.length; k += 3, at += 3) {
        const a = unturned(q, found.slice(k, k + 3)).map((x, j) => x + p[j]);
        for (let j = 0; j < 3; j++) {
          position[at + j] = e[j] * a[0] + e[4 + j] * a[1] + e[8 + j] * a[2] + e[12 + j] + (rank + 1) * APART * size * normal[j];
          color[at + j] = own[j];
        }
      }
    });
    draw3(position, color);
  };
  const back = q => [q[0], -q[1], -q[2], -q[3]];
  const base = (of, method) => {  // three's own class of a thing, which viser does not hand out
    let proto = Object.getPrototypeOf(of);
    while (proto && !Object.hasOwn(proto, method)) proto = Object.getPrototypeOf(proto);
    return proto?.constructor;
  };
  const draw3 = (position, color) => {
    const { scene } = viser();
    if (!caps || caps.parent !== scene) {
      if (!position.length) return;
      let like = null;
      scene.traverse(x => { if (!like && x.isMesh && x.material?.isMeshStandardMaterial && x.geometry?.attributes.position) like = x; });
      const Mesh = like && base(like, "getVertexPosition"), Geometry = like && base(like.geometry, "setAttribute");
      if (!Mesh || !Geometry) return;
      const material = like.material.clone();
      Object.assign(material, { vertexColors: true, side: 2, transparent: false, opacity: 1, clippingPlanes: null, flatShading: true, map: null });
      material.color.setRGB(1, 1, 1);
      patch(material, "nexdyn-face", "outgoingLight = diffuseColor.rgb;");
      caps = new Mesh(new Geometry(), material);
      Object.assign(caps, { name: "nexdyn-caps", frustumCulled: false, matrixAutoUpdate: false, castShadow: false, receiveShadow: false });
      caps.raycast = () => {};
      scene.add(caps);
      caps.userData.Attribute = base(like.geometry.attributes.position, "copyArray");
      shownCaps = "";
    }
    caps.visible = position.length > 0;
    const now = `${position.length} ${position.reduce((sum, x, k) => sum + x * (1 + k % 97), 0)} ${color.reduce((sum, x) => sum + x, 0)}`;
    if (now === shownCaps) return;
    shownCaps = now;
    const { Attribute } = caps.userData, geometry = new caps.geometry.constructor();
    geometry.setAttribute("position", new Attribute(position, 3));
    geometry.setAttribute("normal", new Attribute(new Float32Array(position.length), 3));
    geometry.setAttribute("color", new Attribute(color, 3));
    caps.geometry.dispose();
    caps.geometry = geometry;
  };
  const plane = () => {  // what three needs of a plane; its own class is not at hand
    const normal = viser().camera.position.clone();
    const made = {
      isPlane: true, normal, constant: 0,
      copy(other) { this.normal.copy(other.normal); this.constant = other.constant; return this; },
      clone() { return { ...this, normal: this.normal.clone() }; },
      applyMatrix4(matrix, normalMatrix) {
        const at = this.normal.clone().multiplyScalar(-this.constant).applyMatrix4(matrix);
        this.normal.applyMatrix3(normalMatrix).normalize();
        this.constant = -at.dot(this.normal);
        return this;
      },
    };
    return [made];
  };

  const begun = new WeakSet();
  const begin = () => {  // once a scene, after what others do before it is drawn
    const scene = viser()?.scene;
    if (!scene?.isScene || begun.has(scene)) return;
    begun.add(scene);
    const others = scene.onBeforeRender;
    scene.onBeforeRender = (renderer, of, camera, ...rest) => {
      others.call(scene, renderer, of, camera, ...rest);
      before(renderer, camera);
    };
  };
  setInterval(begin, 100);

  // --- the cube of views: a click on a face looks at it from there, about the same point and from as far ------------------------
  const SIZE = 52;
  const FACES = {  // outward, right, up; x to the right of who looks from the front, z up
    front: [[0, -1, 0], [1, 0, 0], [0, 0, 1], "前"], back: [[0, 1, 0], [-1, 0, 0], [0, 0, 1], "后"],
    right: [[1, 0, 0], [0, 1, 0], [0, 0, 1], "右"], left: [[-1, 0, 0], [0, -1, 0], [0, 0, 1], "左"],
    top: [[0, 0, 1], [1, 0, 0], [0, 1, 0], "上"], bottom: [[0, 0, -1], [1, 0, 0], [0, -1, 0], "下"],
  };
  const cube = document.createElement("div");
  cube.id = "nexdyn-cube";
  cube.setAttribute("aria-hidden", "true");  // keys and buttons do the same
  cube.hidden = true;
  document.body.append(cube);
  for (const [name, [,,, word]] of Object.entries(FACES)) {
    const face = document.createElement("div");
    face.dataset.side = name;
    face.textContent = chinese ? word : name;
    face.addEventListener("click", () => turn(name));
    cube.append(face);
  }
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = a => a.map(x => x / Math.hypot(...a));
  const axes = () => {  // right, ahead, up of who looks from the front, in three's words: as camera.py has them
    const m = viser(), e = m?.nodeRefFromName?.["/motion"]?.matrixWorld?.elements;
    if (!e || !m.camera?.matrixWorld) return null;
    const up = unit(m.camera.up.toArray()), [mx, my] = [0, 4].map(k => unit([...e.slice(k, k + 3)]));
    const x = Math.abs(dot(mx, up)) < 0.9 ? mx : my, right = unit(x.map((a, k) => a - dot(x, up) * up[k]));
    return [right, cross(up, right), up];
  };
  const world = (of, frame) => [0, 1, 2].map(k => of[0] * frame[0][k] + of[1] * frame[1][k] + of[2] * frame[2][k]);
  const turn = name => {
    const frame = axes(), { cameraControl, camera } = viser(), target = camera.position.clone();
    cameraControl.getTarget(target);
    let [out] = FACES[name];
    if (out[2]) out = unit([0, -1.7e-3, out[2]]);  // straight up and down there is no upright
    const far = camera.position.distanceTo(target), to = world(out, frame).map((a, k) => target.getComponent(k) + far * a);
    cameraControl.setLookAt(...to, ...target.toArray(), true);
  };
  let shown = "";
  const draw = () => {
    requestAnimationFrame(draw);
    const frame = axes(), canvas = viser()?.canvas;
    if (!frame || !canvas) return;
    const box = canvas.getBoundingClientRect(), e = viser().camera.matrixWorld.elements;
    const now = [box.right, box.y, ...e.slice(0, 11)].map(x => x.toFixed(3)).join();
    if (now === shown) return;
    shown = now;
    cube.hidden = box.width < 200;
    cube.style.left = `${box.right - SIZE * 1.75 - 8}px`;
    cube.style.top = `${box.y + 8}px`;
    const seen = of => { const a = world(of, frame); return [0, 4, 8].map(k => dot(a, e.slice(k, k + 3))); };
    for (const face of cube.children) {
      const [out, right, up] = FACES[face.dataset.side].slice(0, 3).map(seen);
      face.hidden = out[2] < 0.02;
      const at = out.map((a, k) => a * SIZE / 2 * (k === 1 ? -1 : 1));
      face.style.transform = `matrix3d(${right[0]},${-right[1]},${right[2]},0,${-up[0]},${up[1]},${-up[2]},0,` +
        `${out[0]},${-out[1]},${out[2]},0,${at[0]},${at[1]},${at[2]},1)`;
      face.style.filter = `brightness(${0.78 + 0.22 * out[2]})`;
    }
  };
  requestAnimationFrame(draw);

  // --- the scale of pressures ----------------------------------------------------------------------------------------------
  const colors = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];
  const scale = document.createElement("div");
  scale.id = "nexdyn-scale";
  scale.hidden = true;
  document.body.append(scale);
  const number = x => String(Number(x.toPrecision(4)));
  let told = "";
  const tell = () => {
    const [most, largest] = place("/scale") ?? [0, 0], seen = most > 0 && nodes("/motion/pressure").some(isSeen);
    scale.hidden = !seen;
    if (!seen) return;
    const box = viser().canvas.getBoundingClientRect();
    scale.style.left = `${box.x + 10}px`;
    scale.style.top = `${box.bottom - scale.offsetHeight - 10}px`;
    if (told === `${most} ${largest}`) return;
    told = `${most} ${largest}`;
    const [factor, unit] = [[1e9, "GPa"], [1e6, "MPa"], [1e3, "kPa"], [1, "Pa"]].find(x => most >= x[0]) ?? [1, "Pa"];
    scale.innerHTML = `${chinese ? "最大压力" : "largest pressure"} [${unit}]<div style="background:
      linear-gradient(to right, ${colors.join()})"></div><span>0</span><span>${number(most / 2 / factor)}</span>` +
      `<span>${largest > most * (1 + 1e-6) ? "≥ " : ""}${number(most / factor)}</span>`;
  };
  setInterval(tell, 150);
}
