// The start of the studio: the module, the lists, the initial patterns, and the controls.

function connectControls() {
  const onClick = {
    "#undo": () => step(true), "#redo": () => step(false), "#open": () => chooseFile(null), "#save": save,
      "#save-as": openSaveAs,
    "#play": toggle, "#loop": () => setLooping(!state.isLooping), "#duplicate": duplicateSelected,
      "#delete": removeSelected,
    "#copy": () => copyText(clipText(), "Copied as AHAP."), "#add-transient": () => addTransient(snapped(state.position)),
    "#add-continuous": () => addContinuous(snapped(state.position)), "#add-curve": addCurve,
      "#add-parameter": () => addParameter(snapped(state.position)),
    "#zoom-in": () => zoom(0.6), "#zoom-out": () => zoom(1.6), "#zoom-fit": () => {
      showAll();
      drawAll();
    },
    "#share-link": copyLink,
  };
  for (const [id, act] of Object.entries(onClick)) {
    find(id).addEventListener("click", () => {
      if (score() || ["#open", "#save", "#undo", "#redo"].includes(id)) act();
      else reportUnchangeable();
    });
  }
  for (const slotIndex of [0, 1]) {
    find(`#slot-${slotIndex}`).addEventListener(
      "click", () => (slots[slotIndex] ? showSlot(slotIndex) : chooseFile(slotIndex))
    );
    find(`#hear-${slotIndex}`).addEventListener("click", () => showSlot(slotIndex));
  }
  for (const button of findAll("#views [role=radio]")) button.addEventListener("click",
    () => choosePicture(button.dataset.view));
  check(find("#views"), find("#views [data-view=waveform]"));
  find("#profile").addEventListener("change", (event) => chooseProfile(Number(event.target.value)));
  find("#snap").addEventListener("change", (event) =>
    {
      find("#tempo-label").hidden = !event.target.value.startsWith("1/");
      drawAll();
    });
  find("#tempo").addEventListener("input", () => drawAll());
  find("#volume").addEventListener("input", setVolume);
  for (const id of ["#live-intensity", "#live-sharpness"]) {
    find(id).addEventListener("input", sendControls);
  }
  // The first touch of the page prepares the sound, so that Play starts quickly.
  addEventListener("pointerdown", startSound, { once: true, capture: true });
  new ResizeObserver(() => drawAll()).observe(find("#stage"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    drawAll();
  });
}

/** Loads the packed module, from the page or from the server that supplied the page. */
async function loadModule() {
  if (data.module) {
    const answer = await fetch(data.module);
    if (!answer.ok) throw new Error(`its module cannot be loaded: ${answer.status}.`);
    packedModule = await bytesOfFile(answer);
  } else {
    packedModule = bytesOfDense(find("#studio-module").textContent);
  }
}

async function start() {
  readColors();
  try {
    await loadModule();
    moduleBytes = joinedModule(unpackedLZMA(packedModule));
    core = await Core.make(moduleBytes);
  } catch (error) {
    find("#facts").textContent = `This browser cannot run the studio: ${error.message}`;
    return;
  }
  if (data.profileText) {
    ownProfile = bytesOf(data.profileText);
    core.addProfile(ownProfile);
  }
  profiles = core.profiles();
  formats = core.formats();
  find("#file").accept = [...formats.filter(({ reads }) => reads)
    .flatMap(({ extensions }) => extensions.map(fileEnding)), "audio/*", "video/*"].join();
  // The initial profile is that of the page, or one for laptop speakers.
  const wanted = data.profile ?? "speaker";
  state.profile = Math.max(0, profiles.findLastIndex(({ name }) => name === wanted));
  fillProfiles();
  connectEditing();
  connectFiles();
  connectSaving();
  connectSession();
  connectText();
  connectControls();
  connectLibrary();
  connectArranging();
  connectReference();
  connectOutput();
  find("#views").hidden = !("spectrogram" in core.calls);
  document.body.classList.add("ready");
  find("#source-fold").open = data.slots.every(({ text }) => text.length < minimumFoldedTextLength);
  data.slots.slice(0, 2).forEach(
    ({ name, text, save }, slotIndex) => openSlot(slotIndex, name, bytesOf(text), { save })
  );
  await openFromAddress();
  if (!slots[0]) {
    openSlot(0, "untitled.ahap", utf8.bytes("{\n  \"Version\": 1.0,\n  \"Pattern\": []\n}\n"));
  }
  if (slots[1]) showSlot(0);
  followAddress();
  offerDrafts();
  await startWorker();
  updateLists();
}

start();
