internal import SignalAnalysis
internal import SoundFile

/// A sound within a page: a WAVE of 16-bit samples, dithered as `render` does it.
struct EmbeddedSound {
  /// The bytes of all sounds in one page, as text, beyond which browsers take too long.
  static let maximumByteCount = 100_000_000

  private let signal: Signal

  /// The sound of a signal; one with more than two channels is heard as their mean.
  init(_ signal: Signal) {
    self.signal =
      signal.channels.count > 2 ? Signal(channels: [signal.mono], rate: signal.rate) : signal
  }

  /// Refuses a page whose sounds would be too much for a browser.
  static func check(size: Int, count: Int) throws(ReviewPageError) {
    guard size > maximumByteCount else { return }
    throw ReviewPageError(
      .tooLarge,
      "the page would be \(size / 1_000_000) MB for \(count) takes; the limit is \(maximumByteCount / 1_000_000) MB; use fewer or shorter takes, or a lower '--rate'"
    )
  }

  /// How long the text of the sound is.
  var textLength: Int {
    Base64.length(of: 44 + signal.frameCount * signal.channels.count * 2)
  }

  /// The file in base 64.
  var text: [UInt8] { Base64.encoded(file) }

  /// The WAVE file.
  var file: [UInt8] {
    let channelCount = max(1, signal.channels.count)
    let rate = UInt32(min(max(1, signal.rate.rounded()), 1_000_000))
    let samples = signal.interleaved
    var bytes: [UInt8] = []
    bytes.reserveCapacity(44 + samples.count * 2)
    let size = UInt32(clamping: samples.count * 2)
    bytes += Array("RIFF".utf8) + (36 &+ size).bytes + Array("WAVEfmt ".utf8)
    bytes += UInt32(16).bytes + UInt16(1).bytes + UInt16(clamping: channelCount).bytes
    bytes += rate.bytes + (rate &* UInt32(channelCount) &* 2).bytes
    bytes += UInt16(clamping: channelCount * 2).bytes + UInt16(16).bytes
    bytes += Array("data".utf8) + size.bytes
    var dither = Dither()
    for sample in samples {
      let number = UInt16(bitPattern: dither.quantize(sample))
      bytes.append(UInt8(truncatingIfNeeded: number))
      bytes.append(UInt8(number >> 8))
    }
    return bytes
  }
}

extension FixedWidthInteger {
  /// The bytes, the lowest first.
  fileprivate var bytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}
