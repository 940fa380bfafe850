public import HapticPlayback
internal import SystemSupport

/// A recording device of ALSA that goes on by itself where it loses frames, is unplugged or its server ends.
///
/// Opened again at most twice a second. Belongs to one thread, which a device that hangs keeps.
public final class LiveCapture: CaptureSource {
  /// Frames per second.
  public let rate: Double
  /// Interleaved channels: 2, or 1.
  public let channelCount: Int

  private let make: () throws(OutputError) -> ALSACapture
  private let time: any TimeSource
  private var capture: ALSACapture?
  private var lost: Duration?
  private var nextTry: Duration = .zero

  private static let pause = Duration.milliseconds(500)
  /// Seconds that the device may hold.
  private static let patience = 0.25

  /// Opens a device with two channels, or one where it has no other, and begins to record.
  ///
  /// - Parameters:
  ///   - rates: Frames per second: the first that the device has.
  ///   - period: Seconds between two deliveries of the device, about.
  /// - Throws: `OutputError` of the first rate where no combination is to be had.
  package init(
    _ device: String, rates: [Int], period: Double, time: any TimeSource = SystemTimeSource(),
    interception: PCMInterception? = nil
  ) throws(OutputError) {
    var refusal: OutputError?
    for (rate, channelCount) in rates.flatMap({ [($0, 2), ($0, 1)] }) {
      do throws(OutputError) {
        let open = { () throws(OutputError) in
          let capture = try ALSACapture(
            device, rate: rate, channelCount: channelCount, period: period, patience: Self.patience, timekeeper: time,
            interception: interception)
          try capture.start()
          return capture
        }
        capture = try open()
        (self.rate, self.channelCount, self.time, make) = (Double(rate), channelCount, time, open)
        return
      } catch {
        refusal = refusal ?? error
        guard error.kind == .unsupportedFormat else { throw error }
      }
    }
    throw refusal ?? OutputError(.unsupportedFormat, output: device, "has no usable rate")
  }

  deinit { capture?.stop() }

  /// Appends what was recorded since the last call, or tries to open a device that is lost.
  public func read(into samples: inout [Float]) -> CaptureEvent? {
    do throws(OutputError) {
      if let capture {
        try capture.read(into: &samples)
        return nil
      }
      guard time.now >= nextTry else { return nil }
      nextTry = time.now + Self.pause
      capture = try make()
      defer { lost = nil }
      return .resumed(lost.map { time.now - $0 } ?? .zero)
    } catch {
      capture?.stop()
      capture = nil
      guard lost == nil else { return nil }
      lost = time.now
      return .interrupted(error.kind == .overrun ? "overrun: frames of the source were lost" : error.description)
    }
  }
}
