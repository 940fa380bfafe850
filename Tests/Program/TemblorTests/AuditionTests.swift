import Glibc
import SoundFile
import Testing

/// `temblor audition` and `temblor abx` without a terminal.
@Suite struct AuditionTests {
  let folder = WorkingFolder()

  /// Returns the samples of a raw file of floating-point samples.
  private func rawSamples(_ name: String) -> [Float] {
    let bytes = folder.bytes(name) ?? []
    return stride(from: 0, to: bytes.count / 4 * 4, by: 4).map { offset in
      Float(bitPattern: (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[offset + $1]) << (8 * $1) })
    }
  }

  /// Returns the samples of a sound file.
  private func sound(_ name: String) throws -> [Float] {
    try Sound(reading: folder, name).interleaved
  }

  @Test func identicalTakesAreReported() throws {
    let sentence = "A and B are identical, sample for sample. The result is void."
    let arguments = ["abx", "light", "light", "--simulate", "right", "--output", "r.json"]
    #expect(
      try folder.temblor(arguments) == .init(0, output: "\(sentence)\nr.json: written\n"))
    let json = try folder.temblor(arguments + ["--force", "--json"])
    #expect(json.status == 0)
    #expect(
      json.output.contains("\"conclusion\": \"identical\",\n    \"sentence\": \"\(sentence)\"\n"),
      "\(json)")
    let differentRun = try folder.temblor(
      "abx", "light", "medium", "--simulate", "right", "--trials", "5")
    #expect(differentRun.status == 0 && !differentRun.output.contains(sentence), "\(differentRun)")
    let auditionRun = try folder.temblor("audition", "light", "light", "--device", "null")
    #expect(
      auditionRun.error.contains("The takes are identical, sample for sample."), "\(auditionRun)")
  }

  @Test func patternAndItsRecordingSoundAlike() throws {
    _ = try folder.temblor(
      "render", "pulse", "--sample-format", "float", "--tail", "0", "-o", "a.wav")
    let run = try folder.temblor(
      "audition", "pulse", "a.wav", "--gap", "0.25", "--channels", "1", "--sample-format", "float",
      "--buffer-size", "48000", "--device", "file:FILE=\(folder.path)/a.raw,FORMAT=raw")
    #expect(run == .init(0))
    let expected = try sound("a.wav")
    let played = rawSamples("a.raw")
    // The pattern follows 3 ms of silence and 2 ms of look-ahead. The recording follows the pattern
    // and the gap.
    let starts = [240, 240 + expected.count + 12_000]
    for start in starts {
      let takeSamples = played.dropFirst(start).prefix(expected.count - 48)
      let error = zip(takeSamples, expected).map { abs($0 - $1) }.max() ?? 1
      #expect(takeSamples.count == expected.count - 48)
      #expect(error < 1e-3)
    }
    #expect(expected.contains { abs($0) > 0.01 })
  }

  @Test func takesAndLevelsAreReportedAsJSON() throws {
    let run = try folder.temblor(
      "audition", "light", "heavy", "--match", "felt", "--device", "null", "--json")
    #expect(run.status == 0)
    #expect(run.output.contains(#""letter": "B","#))
    #expect(run.output.contains(#""match": "felt","#))
    #expect(run.output.contains(#""ending": "over","#))
  }

  @Test func unplayableTakeStopsTheAudition() throws {
    try folder.write(Patterns.brokenText, to: "bad.ahap")
    let run = try folder.temblor("audition", "light", "bad.ahap", "--device", "null")
    #expect(run.status == 2)
    #expect(run.error.hasPrefix("bad.ahap:2:1: "))
    #expect(try folder.temblor("audition", "light", "none.wav", "--device", "null").status == 1)
  }

  @Test func testWithoutATerminalNamesTheRemedy() throws {
    #expect(
      try folder.temblor("abx", "light", "medium")
        == .init(
          1,
          error:
            """
            temblor: standard input: is not a terminal; run the test in a terminal, or use \
            '--simulate'

            """
        ))
    #expect(folder.fileNames() == [])
  }

  @Test(arguments: [
    (
      "right",
      "16 of 16 correct. By guessing, the probability of at least 16 correct answers is less "
        + "than 0.1 %. The difference is very probably perceptible.\n"
    ),
    (
      "wrong",
      """
      0 of 16 correct. By guessing, the probability of at most 0 correct answers is less than 0.1 \
      %. A and B may be swapped.

      """
    ),
    (
      "random",
      """
      4 of 16 correct. By guessing, the probability of at most 4 correct answers is 3.8 %. A and B \
      may be swapped.

      """
    ),
    (
      "abbaa",
      "5 of 5 correct. By guessing, the probability of at least 5 correct answers is 3.1 %. The "
        + "difference is probably perceptible.\n"
    ),
  ]) func simulatedAnswersAreCounted(answers: String, output: String) throws {
    let run = try folder.temblor("abx", "light", "medium", "--simulate", answers, "--seed", "3")
    let unmatched = "Levels were not matched. A difference in level alone may explain the result.\n"
    #expect(run == .init(0, output: output + unmatched))
    #expect(folder.fileNames() == [])
  }

  @Test func aRecordIsTheSameEachTime() throws {
    let arguments = [
      "abx", "light", "medium", "--simulate", "ba", "--seed", "3", "--trials", "4", "--match",
      "none", "--output",
      "r.json",
    ]
    let run = try folder.temblor(arguments)
    #expect(
      run
        == .init(
          0,
          output: """
            0 of 2 correct. By guessing, the probability of at least 0 correct answers is 100 %. \
            At least 5 trials are needed for a result. The test ended after 2 of 4 trials: \
            stopping early inflates the result.
            Levels were not matched. A difference in level alone may explain the result.
            r.json: written

            """))
    let text = try #require(folder.text("r.json"))
    let hashes = try folder.bash(
      "for name in light medium; do $TEMBLOR patterns $name | sha256sum; done")
    let firstHash = hashes.output.prefix(64)
    let secondHash = hashes.output.dropFirst(68).prefix(64)
    #expect(
      text.contains("\"name\": \"light\",\n    \"sha256\": \"\(firstHash)\",\n    \"gain\": 1.0,"))
    #expect(
      text.contains("\"name\": \"medium\",\n    \"sha256\": \"\(secondHash)\",\n    \"gain\": 1.0,")
    )
    #expect(
      text.hasSuffix(
        """
          "seed": 3,
          "plannedTrials": 4,
          "trials": [
            { "x": "a", "answer": "b", "correct": false, "switchCounts": { "a": 1, "b": 0, "x": 1 \
        }, "from": 0.0, "to": 0.3 },
            { "x": "b", "answer": "a", "correct": false, "switchCounts": { "a": 1, "b": 0, "x": 1 \
        }, "from": 0.3, "to": 0.6 }
          ],
          "result": {
            "correctCount": 0,
            "trials": 2,
            "complete": false,
            "pValue": 1.0,
            "conclusion": "tooFewTrials",
            "sentence": "0 of 2 correct. By guessing, the probability of at least 0 correct \
        answers is 100 %. At least 5 trials are needed for a result. The test ended after 2 of 4 \
        trials: stopping early inflates the result."
          }
        }

        """))
    #expect(try folder.temblor(arguments + ["--force", "--json"]).output == text)
  }

  @Test func withoutASeedTestsDiffer() throws {
    let arguments = ["abx", "light", "medium", "--simulate", "right", "--json"]
    let firstRun = try folder.temblor(arguments)
    let secondRun = try folder.temblor(arguments)
    #expect(firstRun.status == 0)
    #expect(firstRun.output != secondRun.output)
  }

  @Test func aRecordThatCannotBeWrittenIsAnError() throws {
    #expect(
      try folder.temblor("abx", "light", "medium", "--simulate", "ab", "--output", "no/r.json")
        == .init(
          64,
          error: """
            temblor: cannot write 'no/r.json': the folder 'no' does not exist
            See 'temblor abx --help'.

            """))
  }
}
