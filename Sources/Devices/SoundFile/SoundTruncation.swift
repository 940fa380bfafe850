internal import Glibc

/// The truncation of a sound file that contains fewer samples than its header states.
public struct SoundTruncation: Equatable, Sendable {
  /// The size of the sample data that the header states, in bytes.
  public let expectedByteCount: UInt64
  /// The size of the sample data that the file contains, in bytes.
  public let foundByteCount: UInt64

  /// The values that programs write as the length of the sample data if they cannot update the
  /// header afterward. FFmpeg and other programs write the first value, and SoX writes the second.
  private static let unknownLengthValues: Set<UInt64> = [0xFFFF_FFFF, 0x7FFF_F000]
  /// The maximum number of chunks to examine in a file. Files from music programs have a few dozen.
  private static let maximumChunkCount = 10_000

  /// Creates the truncation of a WAV, RF64, or AIFF file whose header states more sample data than
  /// the file contains.
  ///
  /// The initializer reads some bytes of each chunk before the samples and keeps the position of
  /// the descriptor. The result is nil if the file is complete, its header does not state the
  /// length, or it has another type.
  public init?(readingDescriptor descriptor: Int32) {
    let startOffset = lseek(descriptor, 0, SEEK_CUR)
    var fileStatus = stat()
    guard startOffset >= 0, unsafe fstat(descriptor, &fileStatus) == 0,
      let head = Self.readBytes(of: descriptor, at: startOffset, count: 12)
    else { return nil }
    let containerID = Self.chunkName(head[0..<4])
    let formType = Self.chunkName(head[8..<12])
    let isWAV = ["RIFF", "RF64"].contains(containerID) && formType == "WAVE"
    guard isWAV || containerID == "FORM" && ["AIFF", "AIFC"].contains(formType) else { return nil }
    var announcedByteCount: UInt64?
    var chunkOffset = startOffset + 12
    for _ in 0..<Self.maximumChunkCount {
      guard let chunk = Self.readBytes(of: descriptor, at: chunkOffset, count: 8) else {
        return nil
      }
      let length = Self.decodeInteger(chunk[4..<8], isLittleEndian: isWAV)
      switch Self.chunkName(chunk[0..<4]) {
      case "ds64":
        // An RF64 file states its length here, since its data chunk has only 32 bits for it.
        announcedByteCount = Self.readBytes(of: descriptor, at: chunkOffset + 16, count: 8).map {
          Self.decodeInteger($0[...], isLittleEndian: true)
        }
      case "data", "SSND":
        let isOpen = Self.unknownLengthValues.contains(length)
        guard let expected = isOpen ? announcedByteCount : length else { return nil }
        let availableByteCount = UInt64(max(0, fileStatus.st_size - (chunkOffset + 8)))
        guard availableByteCount < expected else { return nil }
        expectedByteCount = expected
        foundByteCount = availableByteCount
        return
      default:
        break
      }
      chunkOffset += 8 + Int(length + length % 2)
    }
    return nil
  }

  /// The message about the truncation, without the name of the file.
  public var messageText: String {
    """
    has only \(foundByteCount) of the \(expectedByteCount) bytes of samples that its header \
    specifies
    """
  }

  private static func readBytes(of descriptor: Int32, at offset: Int, count: Int) -> [UInt8]? {
    var readBytes = [UInt8](repeating: 0, count: count)
    return unsafe pread(descriptor, &readBytes, count, offset) == count ? readBytes : nil
  }

  private static func chunkName(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  private static func decodeInteger(_ bytes: ArraySlice<UInt8>, isLittleEndian: Bool) -> UInt64 {
    let bigEndianBytes = isLittleEndian ? Array(bytes.reversed()) : Array(bytes)
    return bigEndianBytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
