// The part of the page that asks: what is under the mouse, what is chosen. The server answers (asking.py).
//
//   ask/hover?ray=ox,oy,oz,dx,dy,dz&t=…   {"name", "said"} of the body that the line of sight meets
//   ask/select?ray=… or of=body:link1      selects it, for all who look, and follows it;  ask/measure?ray=…  adds a point
//   ask/plotted    the title of the first plot of what is selected
//   ask/seek?t=…   goes to a time, that of a click in a plot
//   ask/grab?ray=…, pull?ray=…&hand=…, release?hand=…   drag a body of a system that runs;  shift?by=x,y,z&hand=…   by keys
//
// The line of sight is told in the axes of the model: those of the node /motion, which a followed body shifts.
{
  const LEFT_OUT = 60000;  // milliseconds after which what has not come will not
  const viser = () => window.__viserMutable;
  const known = {
    canvas: x => x instanceof HTMLCanvasElement, camera: x => x?.isPerspectiveCamera, scene: x => x?.isScene,
    nodeRefFromName: x => x && typeof x === "object", nodePoseData: x => x && typeof x === "object",
    drainMessageQueue: x => typeof x === "function", messageQueue: x => Array.isArray(x),
    requestRender: x => typeof x === "function", cameraControl: x => x && typeof x.addEventListener === "function",
  };
  const complain = missing => {
    if (document.querySelector("#nexdyn-error")) return;
    const box = document.createElement("div");
    box.id = "nexdyn-error";
    box.setAttribute("role", "alert");
    box.textContent = document.documentElement.lang === "zh"
      ? `NexDyn 不认识此版本的 viser，其页面缺少 ${missing.join(", ")}：物体可能在不同时刻绘制，也无法选中。请安装 viser 1.1：pip install 'nexdyn[view]'。`
      : `NexDyn does not know this version of viser, whose page lacks ${missing.join(", ")}: bodies may be drawn ` +
      "at different times, and cannot be selected. Install viser 1.1: pip install 'nexdyn[view]'.";
    document.body.append(box);
    console.error(box.textContent);
  };
  const check = () => {
    const missing = Object.keys(known).filter(name => !known[name](viser()?.[name]));
    if (missing.length === 0) return;
    if (performance.now() > (window.__nexdynPatience ?? LEFT_OUT)) complain(missing); else setTimeout(check, 200);
  };
  check();

  const style = document.createElement("style");
  style.textContent = `
    #nexdyn-error { position: fixed; left: 10%; right: 10%; top: 12px; z-index: 9999; padding: 10px 14px; background: #b00020;
      color: #fff; font: 14px sans-serif; border-radius: 4px; }
    #nexdyn-held { position: fixed; left: 50%; top: 10px; transform: translateX(-50%); z-index: 999; pointer-events: none; border-radius: 4px;
      background: rgba(20, 22, 26, 0.85); color: #fff; font: 13px sans-serif; } #nexdyn-held:not(:empty) { padding: 3px 9px; }
    #nexdyn-hover { position: fixed; z-index: 999; pointer-events: none; padding: 2px 7px; border-radius: 4px;
      background: rgba(20, 22, 26, 0.85); color: #fff; font: 13px sans-serif; white-space: pre; }
    .nexdyn-tree, .nexdyn-said { font-size: 12px; } .nexdyn-card { font-size: 11px; }
    .nexdyn-card { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
    .nexdyn-card caption { text-align: left; font-weight: 700; font-size: 13px; padding: 0 8px; }
    .nexdyn-card th { text-align: left; font-weight: 400; padding: 1px 2px 1px 6px; vertical-align: top; }
    .nexdyn-card th[scope=rowgroup] { font-weight: 600; padding-top: 5px; }
    .nexdyn-card td { padding: 1px 4px; text-align: right; white-space: nowrap; } .nexdyn-card td:last-child { text-align: left; }
    .nexdyn-card td span { display: inline-block; min-width: 4.3em; padding-left: 0.5em; }
    .nexdyn-said { margin: 0; padding: 2px 8px; }
    .nexdyn-said [data-nexdyn-do] { font: inherit; color: inherit; background: rgba(120, 140, 170, 0.15); border: 1px solid rgba(120, 140, 170, 0.6);
      border-radius: 4px; padding: 2px 9px; cursor: pointer; }
    .nexdyn-tree { max-height: calc(100vh - 110px); overflow: auto; padding: 4px 8px; margin: 0; }
    .nexdyn-tree ul { padding-left: 0.9em; margin: 0; } .nexdyn-tree li { list-style: none; }
    .nexdyn-tree [role=treeitem] { cursor: pointer; padding: 0 4px; border-radius: 3px; white-space: nowrap; }
    .nexdyn-tree [role=treeitem]:hover { background: rgba(120, 140, 170, 0.25); }
    .nexdyn-tree [aria-selected=true] { background: #f08c14; color: #000; }
    .nexdyn-joint { opacity: 0.75; font-style: italic; } .nexdyn-more { opacity: 0.6; padding-left: 4px; }`;
  document.head.append(style);

  const ask = window.__nexdynAsk ?? (async (what, given) => {  // a recording answers itself (record.js)
    try {
      const answer = await fetch(`ask/${what}?${new URLSearchParams(given)}`, { cache: "no-store" });
      return answer.ok ? await answer.json() : {};
    } catch { return {}; }  // the server has gone
  });
  const time = () => viser()?.nodePoseData?.["/clock"]?.position?.[0] ?? 0;
  const ray = event => {  // from the near to the far plane
    const { canvas, camera, nodeRefFromName } = viser();
    const box = canvas.getBoundingClientRect(), inverse = nodeRefFromName["/motion"].matrixWorld.clone().invert();
    const x = 2 * (event.clientX - box.x) / box.width - 1, y = 1 - 2 * (event.clientY - box.y) / box.height;
    const seen = [-1, 1].map(z => camera.position.clone().set(x, y, z).unproject(camera));
    const ahead = camera.getWorldDirection(camera.position.clone()), away = seen[1].clone().sub(seen[0]);
    if (away.dot(ahead) < 0) seen.reverse();  // depths may count from far to near
    const [near, far] = seen.map(point => point.applyMatrix4(inverse));
    return [near.x, near.y, near.z, far.x - near.x, far.y - near.y, far.z - near.z].join();
  };
  const onScene = event => {
    const m = viser();
    return m?.canvas && m.camera && m.nodeRefFromName?.["/motion"] && event.target instanceof Node
      && (event.target === m.canvas || event.target.contains?.(m.canvas)) && event.target !== document.body;
  };

  // --- select, and go to the plots of what is selected: with "Plot it", and where some are drawn already --------------------------------
  const PLOTS = { "Plot it": "Plots", "画曲线": "曲线" };  // the button, and the tab of the plots
  const plotsTab = () => [...document.querySelectorAll("[role=tab]")].find(x => Object.values(PLOTS).includes(x.textContent.trim()));
  const toPlot = title => {
    const found = [...document.querySelectorAll(".u-title")].find(x => x.textContent === title)?.closest(".uplot");
    found?.scrollIntoView({ block: "nearest" });
    return Boolean(found?.getClientRects().length);
  };
  const choose = async given => {
    const { plotted } = await ask("select", given);
    if (plotted) toPlot(plotted);
  };
  const openPlots = () => {  // viser's tabs are opened by a pointer or by a key
    const tab = plotsTab();
    if (tab?.getAttribute("aria-selected") !== "true" || !tab.getClientRects().length)
      tab?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
  };
  const goToPlots = async () => {
    if (!plotsTab()?.getClientRects().length) {  // its column is minimised
      const columns = [...document.querySelectorAll("[data-dock-minimize-all][aria-label='Expand column']")];
      columns.sort((a, b) => a.getBoundingClientRect().x - b.getBoundingClientRect().x)[0]?.click();
    }
    let opened = false;  // once: who opens another tab then stays there
    for (let k = 0; k < 100; k++) {  // until they are drawn
      if (!opened) openPlots();
      opened ||= plotsTab()?.getAttribute("aria-selected") === "true";
      const { plotted } = await ask("plotted", {});
      if (plotted ? toPlot(plotted) : k > 10) return;
      await new Promise(next => setTimeout(next, 100));
    }
  };
  window.addEventListener("click", event => {
    if (!window.__nexdynAsk && PLOTS[event.target?.closest?.("button")?.textContent.trim()]) goToPlots();
  }, true);

  // --- hover -----------------------------------------------------------------------------------------------------------
  const tip = document.createElement("div");
  tip.id = "nexdyn-hover";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);
  let at = null, told = null, under = null;  // where the mouse is, what was asked last, whether an answer is awaited
  let met = null;  // the body that was under the mouse last, and where
  const hover = async () => {
    const now = at && `${at.clientX} ${at.clientY} ${time()}`;
    if (!at || under || now === told) return;
    told = now;
    under = ask("hover", { ray: ray(at), t: time() });
    const { name, said } = await under;
    under = null;
    met = name && at ? { name, x: at.clientX, y: at.clientY } : null;
    tip.hidden = !said || !at;
    if (said && at) {
      tip.textContent = said;
      tip.style.left = `${at.clientX + 14}px`;
      tip.style.top = `${at.clientY + 12}px`;
    }
  };
  setInterval(hover, 80);
  const leave = () => { at = told = null; tip.hidden = true; };

  // --- drag a body of a system that runs -----------------------------------------------------------------------------------
  const live = () => viser()?.nodePoseData?.["/live"]?.position?.[0] > 0.5;
  let drag = null;  // the hand, once it is known; where the mouse is; what is under way
  const pulling = async mine => {  // one question at a time, and one now and then where the mouse stands, lest the hand let go
    const { hand } = await mine.hand;
    if (hand === undefined) { if (drag === mine) drag = null; return; }
    mine.number = hand;
    let asked = 0, sent = null;
    while (drag === mine) {
      if (mine.event !== sent || performance.now() - asked > 400) {
        [sent, asked] = [mine.event, performance.now()];
        const { over } = await ask("pull", { ray: ray(sent), hand });
        if (over) { if (drag === mine) drag = null; return; }
      } else await new Promise(next => setTimeout(next, 12));
    }
    ask("release", { hand });
  };
  const apart = (a, b) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  window.addEventListener("pointerdown", event => {
    const near = met && Math.hypot(event.clientX - met.x, event.clientY - met.y) < 8;
    if (event.button !== 0 || event.shiftKey || !near || met.name === "ground" || !live() || !onScene(event)) return;
    event.stopImmediatePropagation();  // the camera stays
    event.preventDefault();
    leave();
    drag = { event, began: event, at: { ray: ray(event), t: time() }, hand: null };
  }, true);
  window.addEventListener("pointermove", event => {
    if (!drag) return;
    event.stopImmediatePropagation();
    if (!(event.buttons & 1)) { drag = null; return; }
    drag.event = event;
    if (drag.hand || apart(event, drag.began) <= 4) return;
    drag.hand = ask("grab", drag.at);
    pulling(drag);
  }, true);
  window.addEventListener("pointerup", event => {
    if (!drag || event.button !== 0) return;
    event.stopImmediatePropagation();
    const { hand } = drag;
    drag = null;
    if (!hand) choose({ ray: ray(event), t: time() });  // it was a click
  }, true);
  window.addEventListener("pointercancel", () => { drag = null; }, true);
  window.addEventListener("blur", event => { if (event.target === window) drag = null; }, true);

  // --- pull what is selected by keys: the server says which hand they move, once G has grabbed ------------------------------------------
  const STEP = 0.02, LONG_STEP = 5;  // of the height of what is seen; times as far with Shift
  const WAYS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 1], ArrowDown: [1, -1], PageUp: [2, 1], PageDown: [2, -1] };
  const helps = document.createElement("div");
  helps.id = "nexdyn-held";
  helps.setAttribute("role", "status");
  document.body.append(helps);
  let held = null, done = 0;  // the hand, and how far it is still to go; the last one that has let go
  const asked = () => viser()?.nodePoseData?.["/hold"]?.position?.[0] ?? 0;
  const letGo = mine => {
    if (held === mine) held = null;
    done = Math.max(done, mine.hand);
    helps.textContent = document.documentElement.lang === "zh" ? "已松开" : "let go";
    setTimeout(() => { if (!held) helps.textContent = ""; }, 2000);
  };
  const holding = async mine => {  // as pulling, above
    let last = 0;
    while (held === mine) {
      const by = mine.by.join();
      if (mine.by.some(x => x) || performance.now() - last > 400) {
        mine.by = [0, 0, 0];
        last = performance.now();
        if (!(await ask("shift", { hand: mine.hand, by })).target) { letGo(mine); return; }
      } else await new Promise(next => setTimeout(next, 12));
    }
    ask("release", { hand: mine.hand });
  };
  setInterval(() => {
    if (!live() || asked() <= Math.max(done, held?.hand ?? 0)) return;
    held = { hand: asked(), by: [0, 0, 0] };
    done = held.hand - 1;
    helps.textContent = document.documentElement.lang === "zh" ? "方向键拉动，Page Up/Down 推远拉近，Shift 更远，回车松开"
      : "arrow keys pull, Page Up and Down away and near, with Shift farther, Enter lets go";
    holding(held);
  }, 30);
  window.addEventListener("keydown", event => {
    if (!held || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target?.closest?.("input:not([type=checkbox]), textarea, select, [role=slider], [contenteditable]")) return;
    const way = WAYS[event.key];
    if (!way && !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    event.stopImmediatePropagation();  // the camera stays, and Escape does not end the viewer
    if (!way) { letGo(held); return; }
    const { camera, cameraControl, nodeRefFromName } = viser(), [axis, sign] = way;
    const high = 2 * cameraControl.distance * Math.tan(camera.fov * Math.PI / 360), e = camera.matrixWorld.elements;
    const far = sign * STEP * high * (event.shiftKey ? LONG_STEP : 1) * (axis === 2 ? -1 : 1);
    const along = e.slice(4 * axis, 4 * axis + 3), turn = nodeRefFromName["/motion"].matrixWorld.elements;
    held.by = held.by.map((x, k) => x + far * [0, 1, 2].reduce((sum, j) => sum + turn[4 * k + j] * along[j], 0));
  }, true);
  window.addEventListener("blur", event => { if (event.target === window && held) letGo(held); }, true);

  // --- click -----------------------------------------------------------------------------------------------------------
  let down = null;
  window.addEventListener("pointerdown", event => {
    down = event.button === 0 && onScene(event) ? event : null;
    leave();
  }, true);
  window.addEventListener("pointermove", event => {
    if (event.buttons === 0 && onScene(event)) at = event; else leave();
  }, true);
  window.addEventListener("pointerout", event => { if (!event.relatedTarget) leave(); }, true);
  window.addEventListener("pointercancel", () => { down = null; }, true);
  window.addEventListener("pointerup", event => {
    const began = down;
    down = null;
    if (!began || event.button !== 0 || !onScene(event)) return;
    if (Math.hypot(event.clientX - began.clientX, event.clientY - began.clientY) > 4) return;  // it was a drag
    if (event.shiftKey) ask("measure", { ray: ray(event), t: time() }); else choose({ ray: ray(event), t: time() });
  }, true);

  // --- without a GPU shadows take half of the time that a picture takes: such a browser leaves them out (software.js), and says so -
  if (window.__nexdynSoftware && !window.__nexdynShadows) {
    const why = document.documentElement.lang === "zh" ? "没有 GPU：此浏览器不画阴影（地址后加 ?shadows 可画）"
      : "No GPU: this browser leaves shadows out (add ?shadows to the address to have them)";
    const isOfShadows = x => /^(shadows|阴影)$/.test(x.textContent.trim() ?? "");
    window.addEventListener("click", event => {  // switched by hand
      const label = event.target?.closest?.("label") ?? event.target?.labels?.[0];
      if (label && isOfShadows(label)) window.__nexdynShadows = true;
    }, true);
    setInterval(() => {
      if (window.__nexdynShadows) return;
      for (const label of document.querySelectorAll("label")) if (isOfShadows(label)) label.title = why;
    }, 400);
  }

  // --- viser's notice that there is no GPU lies over the scene: what it says is told in short, and goes -----------------------------
  if (window.__nexdynSoftware) {
    const chinese = document.documentElement.lang === "zh", told = "nexdynTold";
    const wait = setInterval(() => {
      const box = [...document.querySelectorAll(".mantine-Notification-root")].find(x => /^Software WebGL/.test(x.innerText.trim()));
      if (!box || box.dataset[told]) return;
      box.dataset[told] = "";
      box.querySelector(".mantine-Notification-title").textContent = chinese ? "没有 GPU" : "No GPU";
      box.querySelector(".mantine-Notification-description").textContent = chinese ? "由处理器绘制，阴影省略。" : "Drawn on the processor, without shadows.";
      setTimeout(() => box.querySelector("button")?.click(), 4000);
      clearInterval(wait);
    }, 100);
    setTimeout(() => clearInterval(wait), LEFT_OUT);
  }

  // --- how many pictures a second this browser draws: the server sends it as many moments (pace.py) ---------------------------------
  if (!window.__nexdynAsk) {
    const SLOW = 30, page = Math.random().toString(36).slice(2);  // on the processor more would slow all else
    let count = 0, since = performance.now();
    const counted = () => { count++; requestAnimationFrame(counted); };
    requestAnimationFrame(counted);
    setInterval(() => {
      const now = performance.now(), pictures = 1000 * count / (now - since);
      [count, since] = [0, now];
      if (!document.hidden) ask("draws", { page, pictures: Math.min(pictures, window.__nexdynSoftware ? SLOW : Infinity).toFixed(1) });
    }, 4000);
  }

  // --- names for screen readers, where viser gives none: the label of the row, or what the icon is called ---------------------
  const nameless = "[role=slider]:not([aria-label]), [role=slider][aria-label=''], input:not([aria-label]):not([type=hidden]), button:not([aria-label])";
  const chinese = document.documentElement.lang === "zh", close = chinese ? "关闭" : "close";
  const icons = chinese ? { "list-search": "命令", adjustments: "设置", x: close } : { "list-search": "commands", adjustments: "settings", x: close };
  const name = x => {
    if (x.labels?.length && x.labels[0].textContent.trim()) return "";
    const icon = [...(x.querySelector("svg")?.classList ?? [])].map(c => c.match(/^tabler-icon-(.+)$/)?.[1]).find(c => c);
    if (x.tagName === "BUTTON") return x.textContent.trim() ? "" : icons[icon] ?? icon ?? (x.querySelector("svg") ? close : "");
    for (let row = x.parentElement; row && row !== document.body; row = row.parentElement) {
      const label = row.querySelector("label")?.textContent.trim();
      if (label) return label;
    }
    if (/^[\d.]+x$/.test(x.value ?? "")) return chinese ? "速度" : "speed";  // of the player of recordings
    return "";
  };
  setInterval(() => {
    for (const x of document.querySelectorAll(`${nameless}, [data-nexdyn-named]`)) {  // labels change, as units do
      const found = name(x);
      if (found && x.getAttribute("aria-label") !== found) {
        x.setAttribute("aria-label", found);
        x.dataset.nexdynNamed = "";
      }
    }
    const scene = viser()?.canvas;
    for (const x of scene ? document.querySelectorAll("canvas") : [])  // others show nothing to read
      if (x !== scene && !x.closest(".uplot")) x.setAttribute("aria-hidden", "true"); else x.removeAttribute("aria-hidden");
    if (scene) named(scene, "img", `${chinese ? "三维场景" : "3D scene"}: ${document.title.split(" · ")[0]}`);
    for (const root of document.querySelectorAll(".uplot")) {
      const title = root.querySelector(".u-title")?.textContent ?? "";
      named(root, "group", `${title}, ${chinese ? "加号、减号缩放，0 显示全部，左右方向键移动" : "plus and minus zoom, 0 shows all, left and right arrows move"}`);
      if (root.tabIndex !== 0) root.tabIndex = 0;
      for (const canvas of root.querySelectorAll("canvas")) named(canvas, "img", title);
    }
  }, 400);
  const named = (x, role, label) => {
    if (x.getAttribute("role") !== role) x.setAttribute("role", role);
    if (x.getAttribute("aria-label") !== label) x.setAttribute("aria-label", label);
  };

  // --- full screen, which a browser grants to a click or a key alone --------------------------------------------------------
  const full = () => {
    if (document.fullscreenElement) document.exitFullscreen(); else document.documentElement.requestFullscreen?.().catch(() => {});
  };
  window.addEventListener("click", event => {
    if (event.target?.closest?.("[data-nexdyn-do=fullscreen]")) full();
  }, true);

  // --- keys: what is a key here does not reach viser's camera, which D moves, too; held, a key acts once, but steps go on -----------
  const OURS = "drlputmfzg,.1234567", ONCE = "drlputmfzg ";
  const alone = event => {
    const typing = event.target?.closest?.("input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]");
    return !typing && !event.ctrlKey && !event.metaKey && !event.altKey && event.key.length === 1 ? event.key.toLowerCase() : "";
  };
  window.addEventListener("keydown", event => {
    const key = alone(event);
    if (event.repeat && key && ONCE.includes(key)) event.stopImmediatePropagation();
  }, true);
  window.addEventListener("keydown", event => {  // viser's commands do not hear what is typed into an input: a box takes space alone
    const key = alone(event), box = event.target?.closest?.("input[type=checkbox]");
    if (!box || !event.isTrusted || !key || key === " " || window.__nexdynAsk) return;
    event.stopImmediatePropagation();
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: event.key, code: event.code, shiftKey: event.shiftKey, bubbles: true, cancelable: true }));
  }, true);
  document.documentElement.addEventListener("keydown", event => {  // viser's commands listen here, its camera on the document
    const key = alone(event);
    if (!key || !OURS.includes(key)) return;
    if (key === "z") full();
    event.stopPropagation();
  });

  // --- plots: a click goes to its time; zoomed together, they also show all again together -----------------------------------------
  let pressed = null, soon = 0;
  window.addEventListener("pointerdown", event => { pressed = event; }, true);
  window.addEventListener("click", event => {
    if (!event.isTrusted || event.button !== 0 || !event.target?.classList?.contains("u-over")) return;
    if (pressed && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) > 4) return;  // it was zoomed
    const all = Object.values(window.__viserTestpoints?.uplots ?? {}), of = all.find(({ chart }) => chart?.over === event.target);
    const t = of?.chart.posToVal(event.clientX - event.target.getBoundingClientRect().x, "x");
    clearTimeout(soon);
    if (Number.isFinite(t)) soon = setTimeout(() => ask("seek", { t }), 250);  // unless it becomes a double click
  }, true);
  window.addEventListener("dblclick", event => {
    clearTimeout(soon);
    if (!event.isTrusted || !event.target?.classList?.contains("u-over")) return;
    for (const other of document.querySelectorAll(".u-over"))
      if (other !== event.target) other.dispatchEvent(new MouseEvent("dblclick", { button: 0 }));
  });

  setInterval(() => {  // uPlot leaves the axes out where a plot was built without a width: it measures them again
    for (const { chart } of Object.values(window.__viserTestpoints?.uplots ?? {}))
      if (chart && chart.width > 0 && !chart.axes[0]._splits?.length && chart.scales.x.max > chart.scales.x.min) chart.redraw(false, true);
  }, 400);

  // by keys: plus and minus zoom about the shown time, 0 shows all, arrows move what is seen; all plots together
  const ZOOMS = { "+": [0.5, 0], "=": [0.5, 0], "-": [2, 0], "_": [2, 0], "0": [Infinity, 0], ArrowLeft: [1, -0.25], ArrowRight: [1, 0.25] };
  window.addEventListener("keydown", event => {
    const root = event.target?.closest?.(".uplot"), zoom = ZOOMS[event.key];
    if (!root || !zoom || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = Object.values(window.__viserTestpoints?.uplots ?? {}).map(x => x.chart).filter(x => x);
    const chart = all.find(x => x.root === root);
    if (!chart) return;
    event.preventDefault();
    event.stopImmediatePropagation();  // the camera stays
    const x = chart.data[0], [first, last] = [x[0], x[x.length - 1]], [factor, by] = zoom;
    const { min, max } = chart.scales.x, wide = Math.min(factor * (max - min), last - first), t = time();
    const middle = factor === 1 ? (min + max) / 2 + by * (max - min) : t >= min && t <= max ? t : (min + max) / 2;
    const low = Math.min(Math.max(middle - wide / 2, first), last - wide);
    for (const one of all) one.setScale("x", { min: low, max: low + wide });
  }, true);

  // --- the tree of the model ---------------------------------------------------------------------------------------------
  const items = () => [...document.querySelectorAll(".nexdyn-tree [role=treeitem]")];
  window.addEventListener("click", event => {
    const of = event.target?.closest?.("[data-nexdyn]")?.dataset.nexdyn;
    if (of) choose({ of });
  }, true);
  window.addEventListener("keydown", event => {
    const item = event.target?.closest?.("[role=treeitem]");
    if (!item) return;
    const all = items(), i = all.indexOf(item);
    const next = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next !== undefined) all[next]?.focus();
    else if (event.key === "Enter" || event.key === " ") { if (item.dataset.nexdyn) choose({ of: item.dataset.nexdyn }); }
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, true);
  let marked = null, tree = null;
  setInterval(() => {  // the chosen item is that of the card
    const of = document.querySelector("[data-nexdyn-of]")?.dataset.nexdynOf ?? "", now = document.querySelector(".nexdyn-tree");
    if (of === marked && now === tree) return;
    [marked, tree] = [of, now];
    for (const item of items()) {
      const chosen = item.dataset.nexdyn === of && !item.classList.contains("nexdyn-part");
      item.setAttribute("aria-selected", chosen);
      if (of) item.tabIndex = chosen ? 0 : -1;
      if (chosen) item.scrollIntoView({ block: "nearest" });
    }
  }, 150);
}
