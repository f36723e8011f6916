// The part of the page, and of recordings, for browsers without a GPU, which draw on the processor. It runs before viser's client.
//
//   no smoothing of edges by the context (four samples a pixel take more than half of the time of a picture)
//   no shadows, unless they are switched by hand or the address says ?shadows (half of what remains)
//   at rest, edges are smooth again: the scene is drawn with more pixels, of which each on the screen is a mean
//
// Browsers with a GPU are left as they are. window.__nexdynSoftware tells which one this is.
{
  const REST = 600;  // milliseconds after which what does not move is drawn finely
  const FINE = 2;  // pixels drawn for each of the screen in a row, at rest
  const renderer = (() => {
    try {
      const gl = document.createElement("canvas").getContext("webgl2");
      const name = gl?.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL;
      const found = name === undefined ? "" : String(gl.getParameter(name));
      gl?.getExtension("WEBGL_lose_context")?.loseContext();
      return found;
    } catch { return ""; }
  })();
  const software = window.__nexdynSoftware = /swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer);
  const fixed = /[?&]fixedDpr=/.test(location.search);  // what viser takes as the number of pixels that is never changed

  const begin = () => {
    const context = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, wanted) {
      return context.call(this, kind, /^webgl/.test(kind) ? { ...wanted, antialias: false } : wanted);
    };
    let known;  // viser's, as soon as it is there: its first picture is already drawn so
    Object.defineProperty(window, "__viserMutable", {
      configurable: true, enumerable: true, get: () => known, set: found => { known = found; watch(found?.scene); },
    });
  };

  window.__nexdynShadows = /[?&]shadows\b/.test(location.search);  // page.js sets it when they are switched by hand
  let drawing = null;  // three's renderer
  const watch = scene => {
    if (!scene?.isScene) return;
    const others = scene.onBeforeRender;
    scene.onBeforeRender = (renderer, ...rest) => {
      drawing = renderer;
      if (!window.__nexdynShadows) scene.traverse(x => { if (x.isLight && x.castShadow) x.castShadow = false; });
      others.call(scene, renderer, ...rest);
    };
  };

  let last = "", since = 0, coarse = 0;  // coarse: pixels a pixel while something moves; 0: it is drawn so now
  let own = false, wrapped = null;
  const draw = m => { own = true; m.requestRender(); own = false; };
  const move = m => {  // something is to be drawn that has not been asked for here: coarsely, and finely once that is over
    since = performance.now();
    if (!coarse) return;
    if (drawing.getPixelRatio() === FINE * devicePixelRatio) drawing.setPixelRatio(coarse);
    coarse = 0;
  };
  const listen = m => {  // viser asks so for a picture where the scene has changed
    if (m.requestRender === wrapped) return;
    const ask = m.requestRender;
    m.requestRender = wrapped = (...given) => { if (!own) move(m); return ask.apply(m, given); };
  };
  const settle = () => {
    const m = window.__viserMutable;
    if (!drawing || !m?.camera || !m.requestRender) return;
    listen(m);
    const now = [m.nodePoseData?.["/clock"]?.position?.[0], ...m.camera.matrixWorld.elements].join();
    if (now !== last) [last, since] = [now, performance.now()];
    const rests = performance.now() - since > REST, pixels = drawing.getPixelRatio();
    if (rests && !coarse && pixels < FINE * devicePixelRatio) {
      coarse = pixels;
      drawing.setPixelRatio(FINE * devicePixelRatio);
      draw(m);
    } else if (!rests && coarse) {
      move(m);
      draw(m);
    }
  };

  if (software) {
    begin();
    if (!fixed) setInterval(settle, 100);
  }
}
