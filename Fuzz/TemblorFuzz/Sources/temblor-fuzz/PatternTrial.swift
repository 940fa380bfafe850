import AHAP
import HapticRender

/// Reads a text as AHAP and holds the reader to what it promises.
struct PatternTrial {
  let text: [UInt8]

  /// Everything from the text to the sound.
  func run() {
    guard let document = read(text) else { return }
    let examination = document.examine()
    for finding in examination.findings { requireOneLine(finding.description) }
    let hasError = examination.findings.contains { $0.severity == .error }
    require(hasError == (examination.reading == nil), "errors and a reading, or neither")
    compareWithReading(document, examination)
    checkFormatting(document, examination)
    guard let reading = examination.reading else { return }
    checkWriting(reading)
    var choices = Choices(text)
    let options = AHAPReadingOptions(
      curveTimes: choices.pick(.automatic, .automatic, .relative, .absolute))
    guard let pattern = try? document.read(options: options).pattern else {
      fatalError("a pattern is refused for where its curves' times count from")
    }
    var rendering = RenderTrial(pattern: pattern, profile: .phone, choices: choices)
    rendering.run()
  }

  private func read(_ text: [UInt8]) -> AHAPDocument? {
    do {
      return try AHAPDocument(text: text, name: "t")
    } catch {
      requireOneLine(error.description)
      return nil
    }
  }

  /// `read` and `examine` must agree on what the file holds, or on the first error.
  private func compareWithReading(_ document: AHAPDocument, _ examination: AHAPExamination) {
    do {
      require(try document.read() == examination.reading, "read and examine differ")
    } catch {
      require(error.finding == examination.findings.first { $0.severity == .error }, "\(error)")
    }
  }

  /// Canonical text must stay as it is, and say what the original said.
  private func checkFormatting(_ document: AHAPDocument, _ examination: AHAPExamination) {
    let once = document.formatted()
    guard let again = read(once) else { fatalError("canonical text is refused") }
    require(again.formatted() == once, "canonical text changes when formatted again")
    let other = again.examine()
    require(other.reading == examination.reading, "canonical text says something else")
    require(Self.digest(of: other) == Self.digest(of: examination), "other findings")
  }

  /// What was found where, in any order, but for the rules that canonical text follows by itself.
  ///
  /// A sum of hashes, since comparing strings would teach libFuzzer words that are in no input.
  private static func digest(of examination: AHAPExamination) -> UInt64 {
    var sum: UInt64 = 0
    for finding in examination.findings
    where finding.rule != .trailingComma && finding.rule != .byteOrderMark {
      let subject = "\(finding.rule.rawValue) \(finding.severity.rawValue) \(finding.path)"
      sum &+= Choices(subject.utf8).state
    }
    return sum
  }

  /// A pattern made into a file must read back equal.
  private func checkWriting(_ reading: AHAPReading) {
    do {
      let made = try AHAPDocument(pattern: reading.pattern, metadata: reading.metadata, name: "t")
      let back = try made.read(options: AHAPReadingOptions(curveTimes: .relative))
      require(back.pattern == reading.pattern, "the file of a pattern says something else")
      require(back.metadata == reading.metadata, "the file of a pattern loses metadata")
    } catch {
      fatalError("the file of a pattern is refused: \(error)")
    }
  }
}
