import Reading
import HapticFormats
import HapticModel
import HapticRender
import PatternRules

/// Reads a text as AHAP, and checks the properties of the reader.
struct PatternTrial {
  private static let format = HapticFormat.ahap

  let text: [UInt8]

  /// Everything from the text to the sound.
  func run() {
    let result = examine(text)
    for finding in result.findings + result.findings(rules: Self.format.rules) {
      requireOneLine(finding.description)
    }
    let hasError = result.findings.contains { $0.severity == .error }
    require(hasError == (result.composition == nil), "errors and a composition, or neither")
    compareWithReading(result)
    checkFormatting(result)
    guard let composition = result.composition else { return }
    checkRules(composition, of: result)
    checkWriting(composition)
    var choices = Choices(text)
    FormatTrial.checkWriting(composition, &choices)
    let curveTimes: ReadingOptions.CurveTimeReference = choices.pick(
      .automatic, .automatic, .relative, .absolute)
    let options = ReadingOptions(curveTimeReference: curveTimes)
    guard let pattern = read(text, options)?.layers[0].pattern else {
      fatalError("a pattern is refused for where its curves' times count from")
    }
    guard Fuzzer.looksBeyondReading(&choices) else { return }
    var rendering = RenderTrial(pattern: pattern, profile: .phone, choices: choices)
    rendering.run()
  }

  private func examine(
    _ text: [UInt8], _ options: ReadingOptions = ReadingOptions()
  ) -> ReadResult {
    Self.format.examine(SourceFile(text, name: "t"), options: options)
  }

  private func read(_ text: [UInt8], _ options: ReadingOptions) -> HapticComposition? {
    examine(text, options).composition
  }

  /// Reading without findings must return the same composition and the same first error as
  /// examining.
  private func compareWithReading(_ result: ReadResult) {
    let fast = examine(text, ReadingOptions(wantsFindings: false))
    require(fast.composition == result.composition, "the fast path reads something else")
    require(
      fast.findings.first { $0.severity == .error }
        == result.findings.first { $0.severity == .error },
      "the fast path finds another error")
  }

  /// Canonical text must stay as it is, and say what the original said.
  private func checkFormatting(_ result: ReadResult) {
    guard let once = canonical(text) else { return }
    require(canonical(once) == once, "canonical text changes when formatted again")
    let other = examine(once)
    require(other.composition == result.composition, "canonical text says something else")
    require(Self.digest(of: other) == Self.digest(of: result), "other findings")
  }

  private func canonical(_ text: [UInt8]) -> [UInt8]? {
    do {
      return try Self.format.canonicalText(of: SourceFile(text, name: "t"))
    } catch {
      requireOneLine(error.description)
      return nil
    }
  }

  /// What was found where, in any order, but for the rules that canonical text follows by itself.
  ///
  /// A sum of hashes, since comparing strings would teach libFuzzer words that are in no input.
  private static func digest(of result: ReadResult) -> UInt64 {
    var sum: UInt64 = 0
    for finding in result.findings
    where !["trailing-comma", "byte-order-mark", "text-encoding"].contains(finding.rule) {
      let subject = "\(finding.rule) \(finding.severity) \(finding.location.path)"
      sum &+= Choices(subject.utf8).state
    }
    return sum
  }

  /// The findings of the rules must be less severe than errors, belong to known rules, and have
  /// one-line messages.
  private func checkRules(_ composition: HapticComposition, of result: ReadResult) {
    let location = result.sourceMap.location(of:)
    let others = PatternRules.findings(in: composition, location: location)
    for finding in others {
      require(
        PatternRules.compositionRules.contains { $0.id == finding.rule },
        "a finding of another rule")
      require(finding.severity < .error, "a pattern that can be read breaks a rule")
      requireOneLine(finding.description)
    }
    let findings = result.findings(
      adding: others, rules: Self.format.rules + PatternRules.compositionRules)
    for finding in findings {
      requireOneLine(finding.description)
    }
  }

  /// A composition made into a file must read back equal.
  private func checkWriting(_ composition: HapticComposition) {
    do {
      guard let writing = try Self.format.write(composition) else {
        fatalError("nothing is written")
      }
      require(writing.losses.isEmpty, "one layer is written with losses")
      let back = read(writing.files[0].bytes, ReadingOptions(curveTimeReference: .relative))
      require(back == composition, "the file of a pattern says something else")
    } catch {
      fatalError("the file of a pattern is refused: \(error)")
    }
  }
}
