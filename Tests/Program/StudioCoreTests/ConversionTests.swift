import HapticFormats
import PatternWorkflows
import Reading
import ShippedFiles
import Testing
import VendorFormats

@testable import StudioCore

/// Opening and saving other formats equals the conversion of the program.
struct ConversionTests {
  private static let names = ["earthquake-splash"] + ShippedPatterns.names.prefix(6)

  @Test(arguments: names) func savingEqualsConverting(_ name: String) throws {
    let file = SourceFile(try #require(ShippedPatterns.text(named: name)), name: name + ".ahap")
    let studio = Studio()
    studio.documents[0].open(file)
    for format in FormatRegistry.standard.formats where format.isWritable {
      let conversion = PatternConversion(to: format, writingOptions: WritingOptions(baseName: name))
      let expected = try? conversion.convert(file)
      let saved = try? studio.convertedText(0, as: format)
      #expect(saved == expected?.files.first?.bytes, "\(format.id)")
      #expect(
        studio.lastConversionLosses.map { $0.loss.message } == expected?.losses.map {
          $0.loss.message
        } ?? [],
        "\(format.id)")
    }
    let unwritable = try #require(FormatRegistry.standard.formats.first { !$0.isWritable })
    #expect(throws: InputError.self) { try studio.convertedText(0, as: unwritable) }
  }

  @Test(arguments: names) func openingEqualsConverting(_ name: String) throws {
    let source = SourceFile(try #require(ShippedPatterns.text(named: name)), name: name + ".ahap")
    for format in FormatRegistry.standard.formats where format.isWritable && format.id != "ahap" {
      guard let written = try? PatternConversion(to: format).convert(source) else { continue }
      let file = SourceFile(written.files[0].bytes, name: "\(name).\(format.fileExtensions[0])")
      let ahapConversion = PatternConversion(
        to: .ahap, writingOptions: WritingOptions(fileSplitting: .never, baseName: name))
      guard let expected = try? ahapConversion.convert(file) else { continue }
      var document = Document()
      document.open(file)
      #expect(document.isReadable, "\(format.id)")
      #expect(document.text == expected.files[0].bytes, "\(format.id)")
      #expect(document.conversionOrigin?.sourceFormat.id == format.id)
      #expect(
        document.conversionOrigin?.losses.map { $0.loss } == expected.losses.map { $0.loss },
        "\(format.id)")
    }
  }

  @Test func textOfAnInvalidForeignFileIsShown() {
    let studio = Studio()
    studio.documents[0].open(
      SourceFile(Array(#"{"version": {"major": 1}, "signals": {}}"#.utf8), name: "a.haptic"))
    #expect(!studio.documents[0].isReadable)
    #expect(studio.findings(of: 0, profile: 0).contains { $0.severity == .error })
  }
}
