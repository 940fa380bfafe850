public import HapticFormats
public import Reading

/// The binary file of MPEG-I haptics, ISO/IEC 23090-31.
///
/// It becomes the same layers as the text, ``HJIFFormat``, and is only read.
public struct HMPGFormat: HapticFormat {
  /// Makes the format.
  public init() {}

  /// `hmpg`.
  public var id: String { "hmpg" }
  /// The name the standard gives it.
  public var title: String { "MPEG haptics binary stream" }
  /// `hmpg`.
  public var endings: [String] { ["hmpg"] }
  /// The rules of units, packets and their fields.
  public var rules: [Rule] { MPEGRules.hmpg.all }

  /// Certain for an initialization unit that is complete and begins with its timing.
  public func recognize(_ bytes: Span<UInt8>) -> Recognition { HMPGDecoder.recognize(bytes) }

  /// Reads a file and checks it against every rule; places are bytes and their bits.
  public func examine(_ file: SourceFile, options: ReadingOptions) -> Examination {
    var decoder = HMPGDecoder(file.bytes)
    decoder.decode()
    let name = file.name
    @Sendable func place(_ bit: Int) -> SourcePlace {
      SourcePlace(name: name, position: .byte(bit / 8, bit: bit % 8 == 0 ? nil : bit % 8))
    }
    return MPEGExamination(
      document: decoder.document, rules: .hmpg, log: decoder.log, offset: { $0 }, place: { place($0) },
      findingPlace: { _, bit in place(bit) }
    ).examination(options)
  }
}
