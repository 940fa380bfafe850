public import SignalAnalysis
internal import SignalPlots
internal import SoundFile
internal import SystemSupport

/// A sound within a page: FLAC of 16-bit samples, dithered as `render` does it.
///
/// Of a sound of more than a minute in which 99 % of the power is below 860 Hz, or else 1,720 Hz, only that is kept,
/// in steps of 12 bits.
struct EmbeddedSound: Sendable {
  /// The bytes of all sounds in one page, as text, beyond which browsers take too long.
  static let maximumByteCount = 100_000_000
  /// The rates of sounds in pages, in hertz; every browser plays them.
  static let rates: [Double] = [8_000, 16_000, 24_000, 32_000, 48_000]

  let file: [UInt8]
  /// Frames per second of what is played.
  let rate: Double
  /// How many frames are played for each of the file, which says `rate` since no browser decodes less than 3 kHz.
  let factor: Int

  /// Seconds from which on a sound is long.
  private static let longSeconds = 60.0
  /// The most that a sound may lose of its power where it is long.
  private static let lostPower = 0.01
  /// Steps from silence to full scale of a long sound.
  private static let steps = Float(2_048)

  /// What is kept of a long sound, and by how much its rate is lower; nil where that would lose too much.
  private static func reduced(_ signal: Signal) -> (samples: [Float], factor: Int)? {
    guard signal.duration > longSeconds, signal.rate == rates[0], signal.channels.count == 1 else { return nil }
    let spectrum = Spectrum(of: signal, window: 0.1)
    for factor in [4, 2] {
      let low = TactileBandSignal(of: signal.mono, rate: signal.rate, least: signal.rate / Double(factor))
      let edge = TactileBandSignal.cutOff * low.rate
      guard spectrum.power(in: edge...signal.rate) <= lostPower * spectrum.power else { continue }
      // Multiples of 4,096 of the 24 bits of a file, which FLAC stores without their zeros.
      let step: Double = 4_096 / 8_388_607
      let samples = low.samples.map { (sample: Float) -> Float in
        let count: Float = (sample * steps).rounded()
        return Float(Double(count) * step)
      }
      return (samples, factor)
    }
    return nil
  }

  /// The sound of a signal; one with more than two channels is heard as their mean.
  ///
  /// - Throws: `notDrawn` where the file cannot be made, as for a rate that FLAC does not know.
  init(_ signal: Signal) throws(ReviewPageError) {
    let reduced = Self.reduced(signal)
    factor = reduced?.factor ?? 1
    let heard = signal.channels.count > 2 ? Signal(channels: [signal.mono], rate: signal.rate) : signal
    // No browser decodes a file without a frame.
    let samples = reduced?.samples ?? (heard.frameCount > 0 ? heard.interleaved : [0])
    rate = heard.rate
    do throws(SoundFileError) {
      file = try SoundFileWriter.bytes(
        of: samples.span, format: SoundFileFormat(container: .flac, samples: reduced == nil ? .s16 : .s24),
        rate: Int(heard.rate.rounded()),
        channelCount: heard.frameCount > 0 ? max(1, heard.channels.count) : 1)
    } catch { throw ReviewPageError(.notDrawn, error.description) }
  }

  /// Refuses a page whose sounds would be too much for a browser.
  static func check(_ sounds: [EmbeddedSound], takeCount: Int, maximumByteCount: Int = maximumByteCount)
    throws(ReviewPageError)
  {
    let size = sounds.reduce(0) { $0 + $1.textLength }
    guard size > maximumByteCount else { return }
    throw ReviewPageError(
      .tooLarge,
      "the sound of \(takeCount) takes would make a page of \(size / 1_000) kB; the limit is \(maximumByteCount / 1_000) kB; use fewer or shorter takes"
    )
  }

  var textLength: Int { Base64.length(of: file.count) }

  func element(id: String) -> [UInt8] {
    let rate = NumberFormatting.rounded(rate, places: 0)
    let times = factor > 1 ? " data-factor=\"\(factor)\"" : ""
    let start = "<script type=\"text/plain\" id=\"\(id)\" data-rate=\"\(rate)\"\(times)>"
    return Array(start.utf8) + Base64.encoded(file) + Array("</script>\n".utf8)
  }
}

/// What a page plays of one take.
public struct PageSounds: Sendable {
  /// What is sent to the actuator.
  public var actuator: Signal
  /// What small speakers play instead, or nil where nothing is made for them.
  public var speaker: Signal?

  /// The share of a sound's power that a lower rate may lose: −40 dB.
  private static let lostPower = 1e-4
  /// The share of a rate up to which resampling and FLAC keep everything.
  private static let passband = 0.45

  /// Makes the sounds of a take.
  public init(actuator: Signal, speaker: Signal? = nil) {
    self.actuator = actuator
    self.speaker = speaker
  }

  /// The lowest rate, in hertz, at which a page holds a signal but for −40 dB of its power: 8 kHz
  /// for patterns without sounds of their own. Time grows with the signal's length.
  public static func lowestRate(holding signal: Signal) -> Double {
    let spectrum = Spectrum(of: signal, window: 0.1)
    let total = spectrum.power
    let top = signal.rate / 2
    for rate in EmbeddedSound.rates where rate < signal.rate {
      let edge = passband * rate
      if spectrum.power(in: edge...max(edge, top)) <= total * lostPower { return rate }
    }
    return EmbeddedSound.rates.last { $0 <= signal.rate } ?? signal.rate
  }
}
