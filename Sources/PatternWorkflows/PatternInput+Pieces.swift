internal import Reading
internal import Glibc
internal import HapticFormats
internal import HapticModel
internal import SystemSupport

extension PatternInput {
  /// Files of fewer bytes are read as a whole.
  private static let smallestInPieces = 4 << 20

  /// What a large file holds, where it can be read in pieces, and the places of its parts.
  func readingInPieces(_ options: ReadingOptions) -> (PieceReading, any SourcePlaces)? {
    guard case .file(let path) = origin, let stamp = FileStamp(path), stamp.byteCount >= Self.smallestInPieces,
      FileSystem.entry(at: path) == .file, let descriptor = try? FileSystem.open(path)
    else { return nil }
    defer { close(descriptor) }
    var start: [UInt8] = []
    let append = { (bytes: inout [UInt8], count: Int) throws -> Bool in
      try FileSystem.append(to: &bytes, count, of: descriptor, name: path)
    }
    guard (try? append(&start, 1 << 20)) == true else { return nil }
    let pieces = SourcePieces(name: name, start: start, append: append)
    guard let reading = formats.reading(pieces, options: options) else { return nil }
    return (reading, PiecePlaces(input: self, stamp: stamp, path: path, options: options))
  }
}

/// Places in a file that was read in pieces, which is read again, as a whole, when one is needed.
private struct PiecePlaces: SourcePlaces {
  let input: PatternInput
  let stamp: FileStamp
  let path: String
  let options: ReadingOptions

  /// The place of a part; the whole file where it has changed.
  func place(of element: CompositionElement) -> SourcePlace {
    guard let file = try? input.file(), FileStamp(path) == stamp else { return SourcePlace(name: input.name) }
    return input.formats.examine(file, options: options).places.place(of: element)
  }
}
