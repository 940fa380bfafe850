internal import HapticFormats
internal import HapticModel
internal import Reading
internal import VendorFormats

/// Something that was not kept, and where it stands in the file that was read.
struct PlacedLoss {
  var loss: Loss
  var place: SourcePlace
}

/// Patterns from one format to another, as `temblor convert` makes them.
enum Conversion {
  private static let unwritable = Rule.error(
    "format-unwritable", "syntax", "The format must be one that can be written.")

  /// The bytes of a file in another format, and what they lack. One file where the format would have several.
  static func convert(_ file: SourceFile, from source: HapticFormat, to target: HapticFormat) throws(InputError) -> (
    bytes: [UInt8], losses: [PlacedLoss], composition: HapticComposition
  ) {
    let examination = source.examine(file)
    let composition = try examination.get()
    if source.id == target.id, let canonical = try source.canonical(file) { return (canonical, [], composition) }
    var options = WritingOptions(name: FormatRegistry.standard.stem(of: file.name))
    var written = try target.write(composition, options: options)
    if let several = written, several.files.count > 1 {
      options.split = .never
      written = try target.write(composition, options: options)
    }
    guard let written, let first = written.files.first else {
      throw InputError(
        Finding(Self.unwritable, place: SourcePlace(name: file.name), "the format \(target.id) cannot be written"))
    }
    let losses = (examination.losses + written.losses).map { loss in
      PlacedLoss(loss: loss, place: loss.place ?? examination.places.place(of: loss.element))
    }
    return (first.bytes, losses, composition)
  }
}

extension JSONArrayWriter {
  /// Writes what was lost.
  mutating func elements(_ losses: [PlacedLoss]) {
    for each in losses {
      object { object in
        object.member("kind", each.loss.kind.rawValue)
        object.member("message", each.loss.message)
        object.member("place", each.place.path)
        if case .text(let line, let column) = each.place.position {
          object.member("line", line)
          object.member("column", column)
        }
      }
    }
  }
}
