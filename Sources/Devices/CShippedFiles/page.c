// The files that come with Temblor, laid into the program by the compiler: a change of a file builds this one again.
#include "shipped_files.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const char module[] = {
#embed "../../Lab/ReviewPages/Page/studio.module"
};

static const char patterns[] = {
#embed "../../Lab/ReviewPages/Page/studio.patterns"
};

static const struct temblor_file files[] = {
    {"actuators.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/actuators.js" suffix(, 0)
     }},
    {"address.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/address.js" suffix(, 0)
     }},
    {"blind.css", (const char[]){
#embed "../../Lab/ReviewPages/Page/blind.css" suffix(, 0)
     }},
    {"blind.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/blind.js" suffix(, 0)
     }},
    {"cards.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/cards.js" suffix(, 0)
     }},
    {"csv.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/csv.js" suffix(, 0)
     }},
    {"detail.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/detail.js" suffix(, 0)
     }},
    {"differences.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/differences.js" suffix(, 0)
     }},
    {"drawing.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/drawing.js" suffix(, 0)
     }},
    {"envelope.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/envelope.js" suffix(, 0)
     }},
    {"folders.css", (const char[]){
#embed "../../Lab/ReviewPages/Page/folders.css" suffix(, 0)
     }},
    {"folders.html", (const char[]){
#embed "../../Lab/ReviewPages/Page/folders.html" suffix(, 0)
     }},
    {"folds.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/folds.js" suffix(, 0)
     }},
    {"gallery.css", (const char[]){
#embed "../../Lab/ReviewPages/Page/gallery.css" suffix(, 0)
     }},
    {"gallery.html", (const char[]){
#embed "../../Lab/ReviewPages/Page/gallery.html" suffix(, 0)
     }},
    {"gallery.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/gallery.js" suffix(, 0)
     }},
    {"keys.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/keys.js" suffix(, 0)
     }},
    {"latency.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/latency.js" suffix(, 0)
     }},
    {"lzma.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/lzma.js" suffix(, 0)
     }},
    {"marks.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/marks.js" suffix(, 0)
     }},
    {"overlay.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/overlay.js" suffix(, 0)
     }},
    {"page.css", (const char[]){
#embed "../../Lab/ReviewPages/Page/page.css" suffix(, 0)
     }},
    {"pattern.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/pattern.js" suffix(, 0)
     }},
    {"picture.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/picture.js" suffix(, 0)
     }},
    {"player.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/player.js" suffix(, 0)
     }},
    {"pointing.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/pointing.js" suffix(, 0)
     }},
    {"random.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/random.js" suffix(, 0)
     }},
    {"report.css", (const char[]){
#embed "../../Lab/ReviewPages/Page/report.css" suffix(, 0)
     }},
    {"report.html", (const char[]){
#embed "../../Lab/ReviewPages/Page/report.html" suffix(, 0)
     }},
    {"report.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/report.js" suffix(, 0)
     }},
    {"share.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/share.js" suffix(, 0)
     }},
    {"sound.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/sound.js" suffix(, 0)
     }},
    {"spectrogram.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/spectrogram.js" suffix(, 0)
     }},
    {"studio-arrange.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-arrange.js" suffix(, 0)
     }},
    {"studio-core.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-core.js" suffix(, 0)
     }},
    {"studio-draw.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-draw.js" suffix(, 0)
     }},
    {"studio-edit.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-edit.js" suffix(, 0)
     }},
    {"studio-fields.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-fields.js" suffix(, 0)
     }},
    {"studio-files.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-files.js" suffix(, 0)
     }},
    {"studio-library.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-library.js" suffix(, 0)
     }},
    {"studio-output.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-output.js" suffix(, 0)
     }},
    {"studio-reference.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-reference.js" suffix(, 0)
     }},
    {"studio-save.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-save.js" suffix(, 0)
     }},
    {"studio-session.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-session.js" suffix(, 0)
     }},
    {"studio-sound.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-sound.js" suffix(, 0)
     }},
    {"studio-state.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-state.js" suffix(, 0)
     }},
    {"studio-text.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-text.js" suffix(, 0)
     }},
    {"studio-worker.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-worker.js" suffix(, 0)
     }},
    {"studio-worklet.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio-worklet.js" suffix(, 0)
     }},
    {"studio.css", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio.css" suffix(, 0)
     }},
    {"studio.html", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio.html" suffix(, 0)
     }},
    {"studio.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/studio.js" suffix(, 0)
     }},
    {"studio.module", module, sizeof module},
    {"studio.patterns", patterns, sizeof patterns},
    {"study-record.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/study-record.js" suffix(, 0)
     }},
    {"study-trials.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/study-trials.js" suffix(, 0)
     }},
    {"study.css", (const char[]){
#embed "../../Lab/ReviewPages/Page/study.css" suffix(, 0)
     }},
    {"study.html", (const char[]){
#embed "../../Lab/ReviewPages/Page/study.html" suffix(, 0)
     }},
    {"study.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/study.js" suffix(, 0)
     }},
    {"text.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/text.js" suffix(, 0)
     }},
    {"thumbnail.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/thumbnail.js" suffix(, 0)
     }},
    {"wasm-streams.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/wasm-streams.js" suffix(, 0)
     }},
    {"waveform.js", (const char[]){
#embed "../../Lab/ReviewPages/Page/waveform.js" suffix(, 0)
     }},
    {0, 0},
};

const struct temblor_file *const temblor_page = files;
