import Reading
import HapticFormats
import HapticModel
import HapticRender
import PatternRules

/// Reads a text as AHAP and holds the reader to what it promises.
struct PatternTrial {
  private static let format = HapticFormat.ahap

  let text: [UInt8]

  /// Everything from the text to the sound.
  func run() {
    let examination = examine(text)
    for finding in examination.findings + examination.judged(rules: Self.format.rules) {
      requireOneLine(finding.description)
    }
    let hasError = examination.findings.contains { $0.severity == .error }
    require(hasError == (examination.composition == nil), "errors and a composition, or neither")
    compareWithReading(examination)
    checkFormatting(examination)
    guard let composition = examination.composition else { return }
    checkRules(composition, of: examination)
    checkWriting(composition)
    var choices = Choices(text)
    FormatTrial.checkWriting(composition, &choices)
    let curveTimes: ReadingOptions.CurveTimes = choices.pick(
      .automatic, .automatic, .relative, .absolute)
    guard let pattern = read(text, ReadingOptions(curveTimes: curveTimes))?.layers[0].pattern else {
      fatalError("a pattern is refused for where its curves' times count from")
    }
    guard Fuzzer.looksBeyondReading(&choices) else { return }
    var rendering = RenderTrial(pattern: pattern, profile: .phone, choices: choices)
    rendering.run()
  }

  private func examine(
    _ text: [UInt8], _ options: ReadingOptions = ReadingOptions()
  ) -> Examination {
    Self.format.examine(SourceFile(text, name: "t"), options: options)
  }

  private func read(_ text: [UInt8], _ options: ReadingOptions) -> HapticComposition? {
    examine(text, options).composition
  }

  /// Reading fast must agree with examining on what the file holds, or on the first error; of warnings it has those of what
  /// is ignored.
  private func compareWithReading(_ examination: Examination) {
    let fast = examine(text, ReadingOptions(wantsFindings: false))
    require(fast.composition == examination.composition, "the fast path reads something else")
    require(
      fast.findings.first { $0.severity == .error } == examination.findings.first { $0.severity == .error },
      "the fast path finds another error")
  }

  /// Canonical text must stay as it is, and say what the original said.
  private func checkFormatting(_ examination: Examination) {
    guard let once = canonical(text) else { return }
    require(canonical(once) == once, "canonical text changes when formatted again")
    let other = examine(once)
    require(other.composition == examination.composition, "canonical text says something else")
    require(Self.digest(of: other) == Self.digest(of: examination), "other findings")
  }

  private func canonical(_ text: [UInt8]) -> [UInt8]? {
    do {
      return try Self.format.canonical(SourceFile(text, name: "t"))
    } catch {
      requireOneLine(error.description)
      return nil
    }
  }

  /// What was found where, in any order, but for the rules that canonical text follows by itself.
  ///
  /// A sum of hashes, since comparing strings would teach libFuzzer words that are in no input.
  private static func digest(of examination: Examination) -> UInt64 {
    var sum: UInt64 = 0
    for finding in examination.findings
    where !["trailing-comma", "byte-order-mark", "text-encoding"].contains(finding.rule) {
      let subject = "\(finding.rule) \(finding.severity) \(finding.place.path)"
      sum &+= Choices(subject.utf8).state
    }
    return sum
  }

  /// What the rules find in a composition is below an error, of a known rule, and printed in one line.
  private func checkRules(_ composition: HapticComposition, of examination: Examination) {
    let places = examination.places.place(of:)
    let others = PatternRules.findings(in: composition, places: places)
    for finding in others {
      require(
        PatternRules.composition.contains { $0.id == finding.rule }, "a finding of another rule")
      require(finding.severity < .error, "a pattern that can be read breaks a rule")
      requireOneLine(finding.description)
    }
    let judged = examination.judged(
      adding: others, rules: Self.format.rules + PatternRules.composition)
    for finding in judged { requireOneLine(finding.description) }
  }

  /// A composition made into a file must read back equal.
  private func checkWriting(_ composition: HapticComposition) {
    do {
      guard let writing = try Self.format.write(composition) else {
        fatalError("nothing is written")
      }
      require(writing.losses.isEmpty, "one layer is written with losses")
      let back = read(writing.files[0].bytes, ReadingOptions(curveTimes: .relative))
      require(back == composition, "the file of a pattern says something else")
    } catch {
      fatalError("the file of a pattern is refused: \(error)")
    }
  }
}
