internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading
internal import SignalAnalysis
internal import SoundTracing
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
    let written = try write(composition, as: target, name: file.name)
    let losses = (examination.losses + written.losses).map { loss in
      PlacedLoss(loss: loss, place: loss.place ?? examination.places.place(of: loss.element))
    }
    return (written.bytes, losses, composition)
  }

  private static func write(_ composition: HapticComposition, as target: HapticFormat, name: String) throws(InputError)
    -> (bytes: [UInt8], losses: [Loss])
  {
    var options = WritingOptions(name: FormatRegistry.standard.stem(of: name))
    var written = try target.write(composition, options: options)
    if let several = written, several.files.count > 1 {
      options.split = .never
      written = try target.write(composition, options: options)
    }
    guard let written, let first = written.files.first else {
      throw InputError(
        Finding(Self.unwritable, place: SourcePlace(name: name), "the format \(target.id) cannot be written"))
    }
    return (first.bytes, written.losses)
  }

  private static let untraceable = Rule.error(
    "sound-untraceable", "syntax", "A sound must last at most an hour, at 500 Hz to 1 MHz.")

  /// An AHAP file of a sound that was made with a profile, or for it.
  static func trace(_ sound: Signal, named name: String, _ profile: TransducerProfile) throws(InputError) -> SourceFile
  {
    let pattern: HapticPattern
    do { pattern = try SoundTrace(of: sound, profile: profile).pattern } catch {
      throw InputError(Finding(Self.untraceable, place: SourcePlace(name: name), error.description))
    }
    return SourceFile(try write(HapticComposition(pattern), as: .ahap, name: name).bytes, name: name)
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
