public import HapticFormats
public import Reading
public import HapticModel

/// Android's vibration effects up to API 36, a text in XML.
///
/// What the device plays by name, primitives and predefined effects, is approximated by one table.
public struct AndroidXMLFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `android-xml`.
  public var id: String { "android-xml" }
  /// The name of its system.
  public var title: String { "Android vibration XML" }
  /// `xml`; the content decides between it and other files of this name.
  public var endings: [String] { ["xml"] }
  /// True: most files of XML hold something else.
  public var sharesEndings: Bool { true }
  /// The rules of Android's parser; their names begin with `android/`.
  public var rules: [Rule] { AndroidRules.xml }
  /// The effects that can be written: `basic-envelope`, which holds intensity and sharpness,
  /// `waveform-envelope`, `waveform`, and `primitives`, which holds transients alone.
  public var dialects: [String] { Dialect.allCases.map(\.rawValue) }

  /// The effects that are written.
  private enum Dialect: String, CaseIterable {
    case basicEnvelope = "basic-envelope"
    case waveformEnvelope = "waveform-envelope"
    case waveform
    case primitives
  }

  /// Certain for a text with a root of vibration XML, possible for other XML.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition {
    guard let root = XMLOutline.root(of: bytes) else { return .no }
    let isOwn = [VibrationName.vibrationEffect, .vibration, .vibrationSelect].contains { $0.text == root }
    return isOwn ? .certain : .possible
  }

  /// Reads a file and checks it against every rule of Android's parser.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    let tree: XMLTree
    do throws(InputError) { tree = try Self.tree(of: file) } catch { return Examination(error) }
    var decoder = VibrationDecoder(tree)
    decoder.decode()
    let places = XMLPlaces(tree: tree, name: file.name, main: decoder.firstEffect)
    let isReadable = decoder.log.errorCount == 0
    let made = isReadable ? VibrationComposition(decoder.effects.first, options: options) : nil
    return Examination(
      composition: made?.composition, findings: decoder.log.findings(for: options) { places.place(of: $0, at: $1) },
      errorCount: decoder.log.errorCount, losses: options.wantsFindings ? made?.losses.finish() ?? [] : [],
      places: places)
  }

  /// Writes a composition as one effect, in whole milliseconds.
  public func write(_ composition: HapticComposition, options: WritingOptions) throws(InputError) -> Writing? {
    try composition.checkFinite(.androidValue)
    let effect: VibrationEffect
    var losses: LossLog
    switch options.dialect.flatMap(Dialect.init) ?? .basicEnvelope {
    case .waveform:
      let steps = VibrationSteps(composition, options: options, isContinuous: false)
      effect = .waveform(steps.steps, repeatIndex: steps.repeatIndex)
      losses = steps.losses
    case let dialect:
      var builder = VibrationBuilder(composition, options: options)
      effect =
        switch dialect {
        case .waveformEnvelope: builder.waveformEnvelope()
        case .primitives: builder.primitives()
        default: builder.basicEnvelope()
        }
      losses = builder.losses
    }
    losses.dropWords(of: composition)
    return Writing([Writing.File(VibrationWriter.text(effect))], losses: losses.finish())
  }

  /// The text in a fixed layout and order of attributes; comments are kept.
  public func canonical(_ file: SourceFile) throws(InputError) -> [UInt8]? {
    VibrationWriter.text(try Self.tree(of: file, keepsComments: true))
  }

  private static func tree(of file: SourceFile, keepsComments: Bool = false) throws(InputError) -> XMLTree {
    do { return try XMLTree(file.bytes, names: VibrationName.texts, keepsComments: keepsComments) } catch {
      throw InputError(
        Finding(
          .androidSyntax, place: LineIndex().place(of: error.offset, in: file.bytes, name: file.name), error.message,
          suggestion: error.suggestion))
    }
  }
}

/// Where elements are in a text; all parts of a composition are where its effect is.
private struct XMLPlaces: SourcePlaces {
  let tree: XMLTree
  let name: String
  /// The element of the effect.
  let main: Int
  private let lines = LineIndex()

  init(tree: XMLTree, name: String, main: Int) {
    self.tree = tree
    self.name = name
    self.main = main
  }

  func place(of element: Int, at offset: Int) -> SourcePlace {
    lines.place(of: offset, in: tree.text, name: name, path: tree.path(to: element))
  }

  func place(of element: CompositionElement) -> SourcePlace { place(of: main, at: tree.elements[main].offset) }
}

/// The name of the root of an XML text, found by a quick look.
enum XMLOutline {
  /// The name of the first element, empty where there is none; nil where the text is not XML.
  static func root(of text: Span<UInt8>) -> String? {
    var position = text.count >= 3 && text[0] == 0xEF && text[1] == 0xBB && text[2] == 0xBF ? 3 : 0
    while true {
      while position < text.count, XMLTree.isSpace(text[position]) { position += 1 }
      guard position + 1 < text.count, text[position] == UInt8(ascii: "<") else {
        return position > 0 && position == text.count ? "" : nil
      }
      let mark = text[position + 1]
      guard mark == UInt8(ascii: "?") || mark == UInt8(ascii: "!") else {
        var name: [UInt8] = []
        position += 1
        while position < text.count, name.count < 64, !XMLTree.isSpace(text[position]),
          text[position] != UInt8(ascii: ">"), text[position] != UInt8(ascii: "/")
        {
          name.append(text[position])
          position += 1
        }
        return String(decoding: name, as: UTF8.self)
      }
      let isComment =
        position + 3 < text.count && text[position + 2] == UInt8(ascii: "-") && text[position + 3] == UInt8(ascii: "-")
      position += 2
      while position < text.count,
        text[position] != UInt8(ascii: ">")
          || (isComment && !(text[position - 1] == UInt8(ascii: "-") && text[position - 2] == UInt8(ascii: "-")))
      { position += 1 }
      position += 1
    }
  }
}

extension LossLog {
  /// Adds a loss for a title and notes.
  mutating func dropWords(of composition: HapticComposition) {
    if composition.title != nil { add(.dropped, .composition, "the title cannot be written") }
    if composition.notes != nil { add(.dropped, .composition, "the notes cannot be written") }
  }
}
