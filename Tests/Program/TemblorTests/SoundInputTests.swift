import TestSupport
import Testing

/// Sounds on standard input, and files of other kinds where a sound is expected.
@Suite struct SoundInputTests {
  let folder = WorkingFolder()

  @Test(
    "A sound on standard input is read like a sound file",
    arguments: [
      "info --csv", "compare light", "plot --show waveform", "trace -o -",
      "play --device null -q", "check --json", "render -o - | cksum",
      "render --input-channels 1 -o - | cksum", "info --input-channels 1 --csv",
      "abx light --simulate right --trials 3 --seed 1",
    ])
  func soundsOnStandardInputAreRead(command: String) throws {
    // The name of an output follows from the name of its input.
    let file = command.hasPrefix("trace") ? "sound.wav" : "pattern.wav"
    #expect(try folder.temblor("render", "light", "-o", file, "-q").status == 0)
    let parts = command.split(separator: "|", maxSplits: 1).map(String.init)
    let pipeline = parts.count > 1 ? "|\(parts[1])" : ""
    let verbAndOptions = parts[0].split(separator: " ", maxSplits: 1).map(String.init)
    func run(_ input: String, _ source: String) throws -> WorkingFolder.Result {
      let arguments = verbAndOptions.count > 1 ? verbAndOptions[1] : ""
      // The sound is the last take.
      return try folder.bash(
        "$TEMBLOR \(verbAndOptions[0]) \(arguments) \(input) \(source) \(pipeline)")
    }
    let named = try run(file, "")
    let piped = try run("-", "< \(file)")
    #expect(piped.status == named.status, "\(piped.error)")
    let name = "standard input"
    #expect(piped.output == named.output.replacingName(file, with: name), "\(command)")
  }

  @Test("A sound from a process substitution is read like a sound file")
  func soundsFromDescriptorsAreRead() throws {
    let run = try folder.bash(
      "$TEMBLOR compare --tolerance 0.1dB,1ms,1% light <($TEMBLOR render light -o -)")
    #expect(run.status == 0, "\(run.error)\(run.output)")
    #expect(run.output.contains("\nB is identical to A except for a residual at −"))
    let pattern = try folder.bash("$TEMBLOR info <($TEMBLOR patterns light) --csv")
    #expect(pattern.status == 0, "\(pattern.error)")
  }

  @Test("Standard input can be both takes")
  func standardInputIsReadAgain() throws {
    let run = try folder.bash("$TEMBLOR render light -o - | $TEMBLOR compare - -")
    #expect(run.status == 0, "\(run.error)")
    #expect(run.output.contains("\nB is identical to A, sample for sample.\n"))
    let page = try folder.bash("$TEMBLOR patterns light | $TEMBLOR compare - heavy -o page.html")
    #expect(page.status == 0, "\(page.error)")
  }

  @Test("'trace' writes the pattern of standard input to sound.ahap")
  func traceNamesItsFile() throws {
    let run = try folder.bash("$TEMBLOR render light -o - | $TEMBLOR trace -")
    #expect(run.status == 0)
    #expect(run.error.hasPrefix("standard input → sound.ahap: vibration: 1 transient, "))
    #expect(folder.fileNames() == ["sound.ahap"])
    let copy = try folder.bash("$TEMBLOR trace - --with-sound < sound.ahap")
    #expect(copy.status == 64)
    #expect(
      copy.error.hasPrefix("temblor: '--with-sound' requires a sound file, not standard input\n"))
  }

  @Test(
    "A file that is not a sound is called by its kind",
    arguments: [
      (
        "trace mine.ahap",
        "mine.ahap: is a haptic pattern, not a sound file; create a sound from it with "
          + "'temblor render'"
      ),
      (
        "trace page.html",
        "page.html: is an HTML page, not a sound file; download the file itself instead of the "
          + "page that shows it"
      ),
      (
        "info page.wav",
        "page.wav: is an HTML page, not a sound file; download the file itself instead of the "
          + "page that shows it"
      ),
      (
        "compare light page.wav",
        "page.wav: is an HTML page, not a sound file; download the file itself instead of the "
          + "page that shows it"
      ),
      ("trace picture.svg", "picture.svg: is an SVG image, not a sound file"),
      (
        "calibrate --profile dayton-bst-1 mine.ahap",
        "mine.ahap: is a haptic pattern, not a sound file; create a sound from it with "
          + "'temblor render'"
      ),
    ])
  func wrongFilesAreCalledByTheirKind(line: String, message: String) throws {
    try folder.write(Patterns.tap(), to: "mine.ahap")
    try folder.write("<!DOCTYPE html>\n<html><body>404</body></html>\n", to: "page.html")
    try folder.write("<!DOCTYPE html>\n<html><body>404</body></html>\n", to: "page.wav")
    try folder.write(
      "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n",
      to: "picture.svg")
    let run = try folder.bash("$TEMBLOR \(line)")
    #expect(run.status == 1 || run.status == 2)
    #expect(run.error.hasSuffix(message + "\n"), "\(run.error)")
  }

  @Test(
    "A file that is not a pattern is called by its kind",
    arguments: [
      ("page.html", "an HTML page, not a pattern"), ("picture.svg", "an SVG image, not a pattern"),
    ])
  func wrongPatternsAreCalledByTheirKind(name: String, problem: String) throws {
    try folder.write("<!DOCTYPE html>\n<html><body>404</body></html>\n", to: "page.html")
    try folder.write(
      "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n",
      to: "picture.svg")
    for verb in ["info", "check", "render", "compare light"] {
      let run = try folder.bash("$TEMBLOR \(verb) \(name)")
      #expect(run.status == 2, "\(verb)")
      #expect("\(run.output)\(run.error)".contains("\(name): error: \(problem)"), "\(run)")
    }
  }
}

extension String {
  fileprivate func replacingName(_ name: String, with newName: String) -> String {
    split(separator: name, omittingEmptySubsequences: false).joined(separator: newName)
  }
}
