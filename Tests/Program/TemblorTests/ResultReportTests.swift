import Testing

/// Commands that write files name them on standard error, and `-q` leaves only errors.
@Suite struct ResultReportTests {
  let folder = WorkingFolder()

  @Test(
    "A command names the files that it has written",
    arguments: [
      ("convert light --format haptic", "light.haptic: written, "),
      ("convert light --format haptic -o clip.haptic", "clip.haptic: written, "),
      ("convert light soft heavy --format haptic -o out", "3 of 3 patterns written\n"),
      ("plot light -o light.svg", "light.svg: written, "),
      ("plot light soft heavy -o out", "3 of 3 pictures written\n"),
      ("trace light.wav -o new.ahap", "light.wav → new.ahap: vibration: 1 transient, "),
      ("trace light.wav", "light.wav → light.ahap: vibration: 1 transient, "),
      ("format -i untidy.ahap", "untidy.ahap: rewritten\n"),
      ("render light -o new.wav", "new.wav: written, 0.014 s, "),
      ("gallery light -o page.html", "page.html: 1 pattern, "),
    ])
  func writtenFilesAreNamed(line: String, message: String) throws {
    try folder.write("{\"Version\": 1, \"Pattern\": []}", to: "untidy.ahap")
    _ = try folder.temblor("render", "light", "-o", "light.wav", "-q")
    let quiet = try folder.bash("$TEMBLOR \(line) -q")
    #expect(quiet == .init(0))
    try folder.write("{\"Version\": 1, \"Pattern\": []}", to: "untidy.ahap")
    let run = try folder.bash("$TEMBLOR \(line)")
    #expect(run.status == 0 && run.output == "")
    #expect(run.error.hasPrefix(message), "\(run.error)")
  }

  @Test("With -q, losses are printed only if they prevent the conversion")
  func quietOmitsLosses() throws {
    try folder.write(
      """
      {"Version": 1, "Pattern": [
        {"Event": {"Time": 0, "EventType": "AudioContinuous", "EventDuration": 0.5}}]}
      """, to: "tone.ahap")
    let loss = "tone.ahap:2:13: dropped: audio events cannot be written\n"
    let arguments = ["convert", "tone.ahap", "--format", "haptic"]
    #expect(try folder.temblor(arguments).error.hasPrefix(loss))
    #expect(try folder.temblor(arguments + ["-q"]) == .init(0))
    #expect(
      try folder.temblor(arguments + ["-q", "--strict"])
        == .init(2, error: loss + "tone.ahap: not converted because of '--strict': 1 loss\n"))
  }

  @Test(
    "A pattern has the same duration in every result",
    arguments: [("light", "0.014", "0.013979"), ("bennie-coin-earned", "0.016", "0.015542")])
  func durationsAgree(name: String, seconds: String, microseconds: String) throws {
    let list = try folder.bash("$TEMBLOR patterns | grep '^\(name) '").output
    #expect(list.contains(" \(seconds) s "))
    #expect(try folder.temblor("info", name).output.contains("length     \(seconds) s\n"))
    #expect(try folder.temblor("render", name).error.contains("written, \(seconds) s, "))
    let played = try folder.temblor("play", name, "-d", "null", "--json")
    #expect(played.output.contains("\"seconds\": \(microseconds.dropLast())"))
    _ = try folder.temblor("gallery", name, "-q", "-o", "page.html")
    let page = try #require(folder.text("page.html"))
    #expect(page.contains("<span class=\"len\">\(seconds) s</span>"))
    #expect(page.contains("\"length\":\(microseconds),"))
  }
}
