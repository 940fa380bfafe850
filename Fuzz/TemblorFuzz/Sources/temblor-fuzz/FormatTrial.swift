import HapticModel
import Reading
import VendorFormats

@testable import HapticFormats

/// Reads a text as every format except AHAP, and checks the properties of readers and writers.
struct FormatTrial {
  private static let formats = FormatRegistry.standard.formats.filter { $0.id != "ahap" }
  /// Texts that are not recognized are read as every format up to this size, which is fast enough.
  private static let smallText = 512

  /// The formats whose readers get the text.
  private static let readers = formats.filter { Fuzzer.only == nil || Fuzzer.only == $0.id }

  let text: [UInt8]

  /// Everything from the text to the files of all formats.
  func run() {
    var choices = Choices(text)
    var hasWritten = false
    for format in Self.readers {
      let isOwn = format.recognize(text.span) == .certain || Self.readers.count == 1
      guard isOwn || text.count <= Self.smallText else { continue }
      let result = examine(format, text)
      checkCanonical(format, result)
      checkParts(format, result)
      guard let composition = result.composition, isOwn || !hasWritten,
        Fuzzer.looksBeyondReading(&choices)
      else { continue }
      hasWritten = true
      Self.checkWriting(composition, &choices)
    }
  }

  private func examine(_ format: HapticFormat, _ text: [UInt8]) -> ReadResult {
    let file = SourceFile(text, name: "t")
    let result = format.examine(file, options: ReadingOptions())
    Self.checkMessages(result)
    for finding in result.findings {
      require(format.rules.contains { $0.id == finding.rule }, "a finding of another rule")
    }
    let hasError = result.findings.contains { $0.severity == .error }
    require(hasError == (result.composition == nil), "errors and a composition, or neither")
    let fast = format.examine(file, options: ReadingOptions(wantsFindings: false))
    require(fast.composition == result.composition, "the fast path reads something else")
    return result
  }

  /// Each listed part of a file can be read, or has an error of its own.
  private func checkParts(_ format: HapticFormat, _ result: ReadResult) {
    guard let openParts = format.openParts else { return }
    do throws(InputError) {
      let partReader = try openParts(SourceFile(text, name: "t"))
      for part in partReader.parts.prefix(8) {
        let file = SourceFile(text, name: "t", part: part)
        let partResult = format.examine(file, options: ReadingOptions())
        Self.checkMessages(partResult)
        require(
          partReader.read(part, ReadingOptions()).composition == partResult.composition,
          "the reader of the parts reads something else")
        require(
          partResult.composition != nil
            || partResult.findings.contains { $0.severity == .error },
          "a part without a composition and without an error")
      }
    } catch {
      requireOneLine(error.finding.description)
      require(result.composition == nil, "a file is read, and its parts are refused")
    }
  }

  private static func checkMessages(_ result: ReadResult) {
    for finding in result.findings {
      requireOneLine(finding.description)
    }
    for loss in result.losses {
      requireOneLine(loss.message)
    }
  }

  /// Canonical text must stay as it is, and say what the original said.
  private func checkCanonical(_ format: HapticFormat, _ result: ReadResult) {
    guard let once = canonical(format, text) else { return }
    require(canonical(format, once) == once, "canonical text changes when formatted again")
    guard let composition = result.composition else { return }
    let again = examine(format, once).composition
    // A file may be too large before it is formatted, or after.
    require(again == nil || again == composition, "canonical text says something else")
  }

  private func canonical(_ format: HapticFormat, _ text: [UInt8]) -> [UInt8]? {
    do {
      return try format.canonicalText(of: SourceFile(text, name: "t"))
    } catch {
      requireOneLine(error.description)
      return nil
    }
  }

  /// A composition that is written in a randomly chosen format must be read without errors, unless
  /// a loss states that devices reject it.
  static func checkWriting(_ composition: HapticComposition, _ choices: inout Choices) {
    let format = formats[choices.number(below: formats.count)]
    let dialects = format.dialects
    let dialect = dialects.isEmpty ? nil : dialects[choices.number(below: dialects.count)]
    do {
      let options = WritingOptions(dialect: dialect, loopPassCount: 2)
      guard let writing = try format.write(composition, options: options) else { return }
      for loss in writing.losses {
        requireOneLine(loss.message)
      }
      if writing.losses.contains(where: { $0.message.contains("reject") }) { return }
      let result = format.examine(
        SourceFile(writing.files[0].bytes, name: "w"), options: ReadingOptions())
      let error = result.findings.first { $0.severity == .error }
      require(error == nil, "\(format.id) refuses what it wrote: \(error?.description ?? "")")
    } catch {
      requireOneLine(error.description)
    }
  }
}
