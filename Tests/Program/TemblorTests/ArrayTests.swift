import Glibc
import SoundFile
import Testing

@Suite struct ArrayTests {
  let folder = WorkingFolder()

  private func seat(_ second: String = "") -> String {
    """
    { "name": "seat", "transducers": [
      { "channel": 1, "at": -1, "profile": "dayton-bst-1" },
      { "channel": 2, "at": 1, "profile": "dayton-bst-1"\(second) }
    ] }
    """
  }

  /// Renders a shipped pattern with the array, and returns the channels of the sound.
  private func channels(_ options: String...) throws -> [[Float]] {
    #expect(
      try folder.temblor(
        [
          "render", "medium", "-o", "a.wav", "--sample-format", "float", "--array", "seat.json",
          "-q",
        ] + options)
        == .init(0))
    let sound = try Sound(reading: folder, "a.wav")
    #expect(sound.channelCount == 2)
    return (0..<2).map { channel in
      stride(from: channel, to: sound.interleaved.count, by: 2).map { sound.interleaved[$0] }
    }
  }

  private func power(_ samples: [Float]) -> Float { samples.reduce(0) { $0 + $1 * $1 } }

  @Test func gainDelayAndPolarityAreMeasuredInTheFile() throws {
    try folder.write(seat(#", "gain": -6, "delay": 0.003, "invert": true"#), to: "seat.json")
    let rendered = try channels()
    // The last 10 ms of the file fade out.
    let delayed = Array(rendered[1][144..<(rendered[1].count - 480)])
    let expected = rendered[0].map { $0 * -0.5011872 }.prefix(delayed.count)
    #expect(rendered[1][..<144].allSatisfy { $0 == 0 })
    #expect(zip(delayed, expected).allSatisfy { abs($0 - $1) < 1e-6 })
    #expect(delayed.contains { abs($0) > 0.05 })
  }

  @Test func withoutAPositionAllTransducersAreDrivenAlike() throws {
    try folder.write(seat(), to: "seat.json")
    let rendered = try channels()
    #expect(rendered[0] == rendered[1])
    #expect(
      try folder.temblor(
        "render", "medium", "-o", "b.wav", "--sample-format", "float", "--profile", "dayton-bst-1",
        "-q")
        == .init(0))
    #expect(try Sound(reading: folder, "b.wav").interleaved == rendered[0])
  }

  @Test func aPositionSharesThePower() throws {
    try folder.write(seat(), to: "seat.json")
    let unpanned = try channels()[0]
    let middle = try channels("--pan", "0")
    #expect(abs(power(middle[0]) / power(unpanned) - 0.5) < 1e-4)
    #expect(middle[0] == middle[1])
    let left = try channels("--pan", "-1")
    #expect(left[0] == unpanned && left[1].allSatisfy { $0 == 0 })
    let quarter = try channels("--pan", "-0.5")
    #expect(abs(power(quarter[0]) / power(unpanned) - 0.853_553) < 1e-4)
    #expect(abs(power(quarter[1]) / power(unpanned) - 0.146_447) < 1e-4)
  }

  @Test func refusalsNameTheMistake() throws {
    try folder.write(seat(), to: "seat.json")
    try folder.write(seat(#", "gian": 1"#), to: "bad.json")
    func error(_ options: String...) throws -> String? {
      let result = try folder.temblor(["render", "medium"] + options)
      #expect(result.status != 0)
      return result.error.split(separator: "\n").first.map { String($0.dropFirst(9)) }
    }
    #expect(
      try error("--array", "seat.json", "--profile", "phone")
        == "'--array' cannot be used with '--profile'")
    #expect(
      try error("--array", "seat.json", "--haptics", "1")
        == "'--array' cannot be used with '--haptics'")
    #expect(try error("--pan", "1") == "'--pan' requires '--array'")
    #expect(
      try error("--array", "seat.json", "--pan", "left")
        == "invalid value 'left' for '--pan': expected a position on the line, such as -0.5")
    #expect(
      try error("--array", "seat.json", "--pan", "0:1,x")
        == "invalid value 'x' for '--pan': expected seconds and positions, such as '0:-1,2.5:1'")
    #expect(
      try error("--array", "seat.json", "--pan", "1:0,1:1")
        == "'--pan' requires increasing times; 1 is out of order")
    #expect(
      try error("--array", "seat.json", "--channels", "1")
        == "channel 2 is in use, but '--channels' is 1")
    #expect(
      try error("--array", "bad.json")
        == #"bad.json:3:55: error: unknown key "gian" (transducers[1].gian); did you mean "gain"?"#)
  }

  @Test func arraysAreCheckedAsProfilesAre() throws {
    try folder.write(seat(), to: "seat.json")
    try folder.write(#"{ "name": "a", "transducers": [{ "channel": 1 }] }"#, to: "bad.json")
    #expect(try folder.temblor("profiles", "check", "seat.json") == .init(0))
    #expect(
      try folder.temblor("profiles", "check", "bad.json")
        == .init(
          2,
          output: """
            bad.json:1:32: error: missing key "at" (transducers[0]) [missing-key]

            """))
  }
}
