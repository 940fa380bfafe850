internal import HapticFormats
internal import HapticModel
internal import Reading

/// One of several patterns in a file, converted to AHAP.
struct DocumentPart {
  /// The reason that a file has several patterns.
  enum Kind: String {
    /// A project has clips that do not play together.
    case clip
    /// The patterns at different body locations play together.
    case location
  }

  var kind: Kind
  /// The name of the clip or the body location.
  var name: String
  /// The pattern as AHAP.
  var text: [UInt8]
  var losses: [LocatedLoss]
}

extension Document {
  /// The maximum number of parts, each of which is converted to a text.
  private static let maximumPartCount = 2_000

  /// The clips of the opened file that can be converted, or its patterns at different body
  /// locations. The array is empty if the file has a single pattern.
  ///
  /// The text of the document has all parts: clips in sequence, body locations together.
  var parts: [DocumentPart] {
    guard let conversionOrigin else { return [] }
    let file = conversionOrigin.sourceFile
    let format = conversionOrigin.sourceFormat
    if let clipReader = try? format.openParts?(file),
      (2...Self.maximumPartCount).contains(clipReader.parts.count)
    {
      return clipReader.parts.compactMap { clip in
        guard
          let conversion = try? DocumentConversion.convertResult(
            format.examinePart(clip, of: clipReader), of: file, to: .ahap)
        else { return nil }
        return DocumentPart(
          kind: .clip, name: clip.name, text: conversion.bytes, losses: conversion.losses)
      }
    }
    let composition = conversionOrigin.sourceComposition
    return composition.separateLocations.compactMap { location in
      guard
        let conversion = try? DocumentConversion.convertComposition(
          composition.composition(feltAt: location), of: file)
      else { return nil }
      return DocumentPart(
        kind: .location, name: location.displayName, text: conversion.bytes,
        losses: conversion.losses)
    }
  }
}
