// The part of the page, and of recordings, that stands on the scene itself: the scale of pressures, the cube of views, the picture without
// perspective, what is seen through bodies, and what a section takes away.
{
  const viser = () => window.__viserMutable;
  const place = name => viser()?.nodePoseData?.[name]?.position;
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
  const above = (name, order) => meshes(viser().nodeRefFromName[name], (mesh, material) => {
    mesh.renderOrder = order;
    if (!material.transparent) { material.transparent = true; material.needsUpdate = true; }
    material.depthTest = material.depthWrite = false;
  });
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
    meshes(viser().nodeRefFromName["/motion/pressure"], (_, material) =>
      patch(material, "nexdyn-unlit", "outgoingLight = diffuseColor.rgb;"));
    above("/motion/contacts", 11);
    section(renderer);
  };
  // --- a section: materials of bodies end at the plane, and their insides are seen in one darker colour ------------------------
  const BODIES = /^\/motion\/(batch|body|link|collision|ghost|inertia)\d*$/;
  const cut = new Map();  // materials that end at the plane, with the side that they had
  let planes = null;
  const mend = () => {
    for (const [material, side] of cut) {
      material.clippingPlanes = null;
      material.side = side;
      material.needsUpdate = true;
    }
    cut.clear();
  };
  const section = renderer => {
    const node = viser().nodeRefFromName["/motion/section"];
    if (!node || Math.abs(place("/motion/section")?.[0] ?? Infinity) > 1e11) { if (cut.size) mend(); return; }
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
    const [most, largest] = place("/scale") ?? [0, 0], node = viser()?.nodeRefFromName?.["/motion/pressure"];
    let seen = most > 0 && node !== undefined && node !== null;
    for (let x = node; seen && x; x = x.parent) seen = x.visible;
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
