import Reading
import TestSupport
import Testing
import TransducerProfiles

/// Damaged arrays are read or refused, with findings of one line each.
@Suite struct ArrayFuzzTests {
  private static let seeds = [
    """
    { "name": "seat", "layout": "line", "transducers": [
      { "channel": 1, "at": -1, "profile": "dayton-bst-1", "gain": -3, "delay": 0.002, "invert": t\
    rue },
      { "channel": 2, "at": 1 } ] }
    """,
    """
    { "name": "ring", "layout": "ring", "transducers": [ { "channel": 1, "at": 0 }, { "channel":\
     2, "at": 180 } ] }
    """,
    """
    { "name": "floor", "layout": "plane", "transducers": [ { "channel": 1, "at": { "x": 0, "y": 1 \
    } } ] }
    """,
  ]

  @Test func damagedArraysAreReadOrRefused() {
    let tokens = [
      "null", "1e308", "-1", "[", "{", "\"ring\"", "\"../x.json\"", "\"/etc/passwd\"", "\u{202E}",
      "\"x.json\"", ",",
      ":", "\\u0000",
    ]
    var mutator = InputMutator(seed: 5, words: tokens)
    for caseIndex in 0..<InputMutator.caseCount(default: 1_000) {
      let text = mutator.mutated(Array(Self.seeds[caseIndex % Self.seeds.count].utf8))
      let result = ArrayCheckResult(
        text: text, name: "t", folder: "/nonexistent", library: ProfileLibrary(userFolder: nil))
      let displayedText = String(decoding: text, as: UTF8.self)
      for finding in result.findings {
        #expect(InputMutator.isOneLine(finding.description), "\(displayedText): \(finding)")
      }
      switch result.outcome {
      case .success(let array):
        #expect(!array.transducers.isEmpty && result.findings.allSatisfy { $0.severity < .error })
        #expect(array.transducers.allSatisfy { (1...64).contains($0.channelNumber) })
      case .failure(let error):
        #expect(InputMutator.isOneLine("\(error)"), "\(displayedText)")
      }
    }
  }
}
