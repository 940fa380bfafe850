internal import HapticFormats
internal import HapticModel
internal import HapticRender
internal import Reading
internal import VendorFormats

/// The source of a text that was converted from another format.
struct ConversionOrigin {
  let sourceFile: SourceFile
  let sourceFormat: HapticFormat
  let losses: [LocatedLoss]
  /// The complete content of the source file, which is audible until the text changes.
  let sourceComposition: HapticComposition

  var formatID: String { sourceFormat.id }

  /// Returns the text of a file as AHAP, and the origin of the text if the file has another format.
  static func convertToAHAP(_ file: SourceFile) throws(InputError) -> (
    bytes: [UInt8], origin: ConversionOrigin?
  ) {
    let format = try FormatRegistry.standard.format(of: file)
    if format.id == HapticFormat.ahapID { return (file.bytes, nil) }
    let conversion = try DocumentConversion.convertFile(file, from: format, to: .ahap)
    let origin = ConversionOrigin(
      sourceFile: file, sourceFormat: format, losses: conversion.losses,
      sourceComposition: conversion.composition)
    return (conversion.bytes, origin)
  }
}

/// A converter of patterns between formats, with the same results as `temblor convert`.
enum DocumentConversion {
  private static let unwritableFormatRule = Rule.error(
    "format-unwritable", "syntax", "The target format must be writable.")

  /// Converts a file to a single file in another format, even if the format normally uses several
  /// files.
  ///
  /// - Returns: The bytes of the file, the losses, and the composition of the source.
  static func convertFile(_ file: SourceFile, from source: HapticFormat, to target: HapticFormat)
    throws(InputError) -> (
      bytes: [UInt8], losses: [LocatedLoss], composition: HapticComposition
    )
  {
    let readResult = source.examine(file)
    if source.id == target.id {
      let composition = try readResult.get()
      if let canonicalText = try source.canonicalText(of: file) {
        return (canonicalText, [], composition)
      }
    }
    return try convertResult(readResult, of: file, to: target)
  }

  /// Converts the result of reading a file to a single file in another format.
  ///
  /// - Returns: The bytes of the file, the losses, and the composition of the source.
  static func convertResult(_ readResult: ReadResult, of file: SourceFile, to target: HapticFormat)
    throws(InputError) -> (
      bytes: [UInt8], losses: [LocatedLoss], composition: HapticComposition
    )
  {
    let composition = try readResult.get()
    let writtenPattern = try writeComposition(composition, as: target, name: file.name)
    let losses = (readResult.losses + writtenPattern.losses).map { loss in
      LocatedLoss(
        loss: loss,
        location: loss.location ?? readResult.sourceMap.location(of: loss.compositionElement))
    }
    return (writtenPattern.bytes, losses, composition)
  }

  /// Converts a part of a file's composition to a single AHAP file.
  ///
  /// - Returns: The bytes of the AHAP file, and the losses of writing it.
  static func convertComposition(_ composition: HapticComposition, of file: SourceFile)
    throws(InputError) -> (bytes: [UInt8], losses: [LocatedLoss])
  {
    let writtenPattern = try writeComposition(composition, as: .ahap, name: file.name)
    let losses = writtenPattern.losses.map { loss in
      LocatedLoss(loss: loss, location: loss.location ?? FileLocation(name: file.name))
    }
    return (writtenPattern.bytes, losses)
  }

  /// Writes a composition as a single file.
  static func writeComposition(
    _ composition: HapticComposition, as target: HapticFormat, name: String
  )
    throws(InputError) -> (bytes: [UInt8], losses: [Loss])
  {
    var writingOptions = WritingOptions(baseName: FormatRegistry.standard.stem(of: name))
    var writtenFiles = try target.write(composition, options: writingOptions)
    if let files = writtenFiles?.files, files.count > 1 {
      writingOptions.fileSplitting = .never
      writtenFiles = try target.write(composition, options: writingOptions)
    }
    guard let writtenFiles, let firstFile = writtenFiles.files.first else {
      throw InputError(
        Finding(
          Self.unwritableFormatRule, location: FileLocation(name: name),
          "the format \(target.id) cannot be written"))
    }
    return (firstFile.bytes, writtenFiles.losses)
  }
}

extension Studio {
  /// Returns the text of a document in another format.
  ///
  /// - Throws: The reason that the text cannot be read, or cannot be written in the format.
  func convertedText(_ index: Int, as target: HapticFormat) throws(InputError) -> [UInt8] {
    lastConversionLosses = []
    let documentFile = SourceFile(documents[index].text, name: documents[index].fileName)
    let conversion = try DocumentConversion.convertFile(documentFile, from: .ahap, to: target)
    lastConversionLosses = conversion.losses
    return conversion.bytes
  }
}
