internal import Glibc
package import HapticPlayback
package import SoundFile
internal import SystemSupport

package struct PCMRequest: Equatable, Sendable {
  /// The name of the device in ALSA's configuration, or a persistent name, which is resolved at
  /// each opening: `card:ID`, `usb:VENDOR:PRODUCT`, or `usb:VENDOR:PRODUCT:SERIAL`.
  package var device: String
  /// The sample rate in hertz.
  package var rate: Int
  /// A Boolean value that indicates whether the device may use the nearest rate that it supports,
  /// if it does not support the requested rate.
  package var allowsOtherRate: Bool
  package var channels: OutputRequest.Channels
  /// The sample encoding; nil for the best encoding that the device supports without conversion.
  package var encoding: SampleEncoding?
  /// The access to the device's buffer; nil for memory mapping if the device supports it.
  package var access: PCMAccess?
  /// The period size, which is the number of frames between two wake-ups at the requested rate. At
  /// another rate, the duration is the same.
  package var periodSize: Int
  /// The buffer size in frames at the requested rate. At another rate, the duration is the same.
  package var bufferSize: Int
  /// A Boolean value that indicates whether the buffer of a sound server's stream may grow after
  /// underruns.
  package var adaptsBuffer: Bool
  /// The duration of silence before the first frame and after a reconnection, on devices that are
  /// not sound cards.
  ///
  /// A sound server that starts a stream reads all frames up to its own position at once, and drops
  /// frames that come too late: milliseconds, or half a second on a busy machine. The silence
  /// therefore continues until the device has accepted frames in time for this duration.
  package var warmUpDuration: Duration

  /// Creates a request; by default, for a buffer of 20 ms in four periods, at any rate.
  package init(
    device: String = "default", rate: Int = 48_000, allowsOtherRate: Bool = false,
    channels: OutputRequest.Channels = .atLeast(2), encoding: SampleEncoding? = nil,
    access: PCMAccess? = nil,
    periodSize: Int? = nil, bufferSize: Int? = nil, adaptsBuffer: Bool = false,
    warmUpDuration: Duration = .zero
  ) {
    self.device = device
    self.rate = rate
    self.allowsOtherRate = allowsOtherRate
    self.channels = channels
    self.encoding = encoding
    self.access = access
    self.periodSize = periodSize ?? rate / 200
    self.bufferSize = bufferSize ?? rate / 50
    self.adaptsBuffer = adaptsBuffer
    self.warmUpDuration = warmUpDuration
  }
}

/// The configuration that a device granted.
package struct PCMConfiguration: Equatable, Sendable {
  package var rate: Int
  package var channelCount: Int
  package var encoding: SampleEncoding
  package var access: PCMAccess
  package var periodSize: Int
  package var bufferSize: Int
  /// A Boolean value that indicates whether a sound card plays the frames without a sound server.
  package var isHardware: Bool
  /// A Boolean value that indicates whether the device accepts frames faster than real time, so
  /// that the clock must pace it.
  package var isFasterThanRealTime: Bool
  /// A Boolean value that indicates whether the device is a stream of PulseAudio or PipeWire.
  package var isServerStream: Bool
  /// A Boolean value that indicates whether the device is a client of JACK. A JACK client loses its
  /// connections when it is stopped.
  package var isJACKClient: Bool
}

package enum PCMAccess: String, CaseIterable, Sendable {
  case memoryMapped
  case readWrite
}

struct PCMNegotiation {
  /// The sample rates that are tested to list the rates of a device.
  static let commonRates = [
    8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000,
  ]

  let request: PCMRequest

  func open(interception: PCMInterception?) throws(OutputError) -> DeviceReconnector.OpenedDevice {
    do {
      // The name is resolved at each opening.
      guard let name = PersistentDeviceName.alsaName(for: request.device) else {
        throw OutputError(PCMFailure(.open, errnoCode: ENOENT), device: request.device)
      }
      // A server that lost the sink may accept the stream and play nothing.
      try NamedSink(device: name)?.findSink(on: .system)
      let pcm = try PCM(opening: name, interception: interception)
      do {
        return (pcm, try negotiate(pcm))
      } catch {
        // The next attempt would find an open device busy.
        pcm.close()
        throw error
      }
    } catch let failure as PCMFailure {
      throw OutputError(openingFailure: failure, device: request.device, direction: .playback)
    } catch let error as OutputError {
      throw error
    } catch {
      throw OutputError(.other, output: request.device, "\(error)")
    }
  }

  /// Configures a device that has been opened and not yet configured.
  func negotiate(_ pcm: PCM) throws -> PCMConfiguration {
    try pcm.startNegotiation()
    let accessMode = try chooseAccess(pcm)
    let channelCount = try chooseChannels(pcm)
    let rate = try chooseRate(pcm)
    let encoding = try chooseEncoding(pcm)
    pcm.preferWholePeriods()
    let rateRatio = Double(rate) / Double(max(1, request.rate))
    let requestedPeriodSize = Int((Double(request.periodSize) * rateRatio).rounded())
    try pcm.set(periodSizeNear: max(1, requestedPeriodSize))
    try pcm.set(
      bufferSizeNear: max(
        2 * requestedPeriodSize, Int((Double(request.bufferSize) * rateRatio).rounded()))
    )
    let (periodSize, bufferSize) = try pcm.finishNegotiation()
    guard periodSize > 0, bufferSize >= periodSize else {
      throw unsupportedFormat(
        "has an unusable buffer: \(bufferSize) frames with periods of \(periodSize)")
    }
    try pcm.setSoftwareParameters(periodSize: periodSize, bufferSize: bufferSize)
    try pcm.prepare()
    let deviceDescription = pcm.dumpText()
    return PCMConfiguration(
      rate: rate, channelCount: channelCount, encoding: encoding, access: accessMode,
      periodSize: periodSize,
      bufferSize: bufferSize,
      isHardware: pcm.isSoundCard || deviceDescription.containsText("Hardware PCM card"),
      isFasterThanRealTime: deviceDescription.containsText("Null PCM"),
      isServerStream: deviceDescription.containsText("PulseAudio PCM")
        || deviceDescription.containsText("PipeWire PCM"),
      isJACKClient: deviceDescription.containsText("JACK"))
  }

  /// Chooses the access to the buffer: memory mapping, except for external plug-ins, for which the
  /// library only emulates it.
  private func chooseAccess(_ pcm: PCM) throws -> PCMAccess {
    let preferredModes: [PCMAccess] =
      if let access = request.access {
        [access]
      } else if pcm.isExternalPlugin {
        [.readWrite, .memoryMapped]
      } else {
        [.memoryMapped, .readWrite]
      }
    guard let supportedMode = preferredModes.first(where: { pcm.supports($0) }) else {
      throw unsupportedFormat(
        "does not support \(request.access == nil ? "" : "this type of ")interleaved playback; "
          + "use the device's 'plughw' name, or a different access type")
    }
    try pcm.set(supportedMode)
    return supportedMode
  }

  private func chooseChannels(_ pcm: PCM) throws -> Int {
    let offeredCounts = try pcm.channelCounts()
    switch request.channels {
    case .exactly(let requiredCount):
      guard pcm.supports(channelCount: requiredCount) else {
        let offered = Self.channelCounts(of: pcm, in: offeredCounts)
        let noun = offered == [1] ? "channel" : "channels"
        throw unsupportedFormat(
          "does not support \(requiredCount) channels; supported: \(Self.listText(offered)) \(noun)"
        )
      }
      try pcm.set(channelCount: requiredCount)
      return requiredCount
    case .atLeast(let minimumCount):
      let offered = Self.channelCounts(of: pcm, in: offeredCounts)
      guard let best = offered.first(where: { $0 >= minimumCount }) ?? offered.last else {
        throw unsupportedFormat("has no channels")
      }
      try pcm.set(channelCount: best)
      return best
    }
  }

  private func chooseRate(_ pcm: PCM) throws -> Int {
    if pcm.supports(rate: request.rate) {
      try pcm.set(rate: request.rate)
      return request.rate
    }
    guard request.allowsOtherRate else {
      let offered = try Self.rates(of: pcm)
      throw unsupportedFormat(
        "does not support \(request.rate) Hz; supported: \(Self.listText(offered)) Hz")
    }
    return try pcm.set(rateNear: request.rate)
  }

  private func chooseEncoding(_ pcm: PCM) throws -> SampleEncoding {
    let preferredEncodings = request.encoding.map { [$0] } ?? SampleEncoding.allCases
    guard let supportedEncoding = preferredEncodings.first(where: { pcm.supports($0) }) else {
      let offered = SampleEncoding.allCases.filter { pcm.supports($0) }.map(\.rawValue)
      throw unsupportedFormat(
        offered.isEmpty
          ? "does not support 16-, 24-, or 32-bit samples"
          : """
          does not support \(preferredEncodings[0].rawValue) samples; supported: \
          \(offered.joined(separator: ", "))
          """
      )
    }
    try pcm.set(supportedEncoding)
    return supportedEncoding
  }

  private func unsupportedFormat(_ text: String) -> OutputError {
    OutputError(.unsupportedFormat, output: request.device, text)
  }

  /// Returns the channel counts within a range that a device supports, up to 64 channels.
  static func channelCounts(of pcm: PCM, in range: ClosedRange<Int>) -> [Int] {
    guard range.lowerBound <= 64 else { return [range.lowerBound] }
    return (max(1, range.lowerBound)...max(1, min(64, range.upperBound))).filter {
      pcm.supports(channelCount: $0)
    }
  }

  /// Returns the common sample rates that a device supports, or the ends of its range if it
  /// supports none of them.
  static func rates(of pcm: PCM) throws(PCMFailure) -> [Int] {
    let supportedCommonRates = commonRates.filter { pcm.supports(rate: $0) }
    guard supportedCommonRates.isEmpty else { return supportedCommonRates }
    let offeredRates = try pcm.rates()
    return offeredRates.count == 1
      ? [offeredRates.lowerBound] : [offeredRates.lowerBound, offeredRates.upperBound]
  }

  /// Returns numbers as text, such as `1, 2 and 6`, or `1 to 8` for consecutive numbers.
  static func listText(_ numbers: [Int]) -> String {
    if numbers.count > 2, let firstNumber = numbers.first, let lastNumber = numbers.last,
      lastNumber - firstNumber == numbers.count - 1
    {
      return "\(firstNumber) to \(lastNumber)"
    }
    guard let lastNumber = numbers.last, numbers.count > 1 else { return "\(numbers.first ?? 0)" }
    return numbers.dropLast().map(String.init).joined(separator: ", ") + " and \(lastNumber)"
  }
}

extension OutputError {
  /// Creates the error for a failed library call. This is the only place that interprets error
  /// numbers.
  init(_ failure: PCMFailure, device: String, direction: PCM.Direction = .playback) {
    let captureKindAndText =
      direction == .capture ? Self.captureKindAndText(of: failure) : nil
    let (kind, text) = captureKindAndText ?? Self.kindAndText(of: failure)
    self.init(kind, output: device, text)
  }

  /// Creates the error for a failed library call while a device is opened and configured.
  ///
  /// If there is no device for the direction, opens the device for the opposite direction to
  /// recognize a device that can only record or only play.
  init(openingFailure failure: PCMFailure, device: String, direction: PCM.Direction) {
    if failure == PCMFailure(.open, errnoCode: ENOENT),
      device.prefix(while: { $0 != ":" }) == "jack"
    {
      // The plug-in returns this error if the server does not run.
      let serverFailure = PCMFailure(.open, errnoCode: ECONNREFUSED)
      self.init(serverFailure, device: device, direction: direction)
      return
    }
    self.init(failure, device: device, direction: direction)
    guard failure.call == .open, kind == .notFound else { return }
    switch direction {
    case .playback where PCM.canOpen(device, for: .capture):
      self.init(.notPlayback, output: device, "input only; choose an output device")
    case .capture where PCM.canOpen(device, for: .playback):
      self.init(
        .notCapture, output: device,
        "output only; choose a capture device, which 'arecord -L' lists")
    case .playback, .capture:
      break
    }
  }

  /// Returns the kind and the message of a failure that differ for capture devices, or nil.
  private static func captureKindAndText(of failure: PCMFailure) -> (Kind, String)? {
    switch failure.errnoCode {
    case EBUSY:
      (
        .busy,
        """
        device busy: another program is recording from it; close that program or choose another \
        device
        """
      )
    case ENOENT:
      (.notFound, "no such device; run 'arecord -L' to list devices")
    case EACCES, EPERM:
      (
        .permissionDenied,
        "permission denied; add your user to the group 'audio' to record from this device"
      )
    case EPIPE, ESTRPIPE:
      (.overrun, "overrun: the recording has a gap; close other programs and record again")
    default:
      nil
    }
  }

  private static func kindAndText(of failure: PCMFailure) -> (Kind, String) {
    let hasOpeningFailed = failure.call == .open
    switch failure.errnoCode {
    case EBUSY:
      return (
        .busy, "device busy: another program uses it; close that program or choose another device"
      )
    case ENOENT:
      return (.notFound, "no such device; run 'aplay -L' to list devices")
    case ENODEV where hasOpeningFailed, ENXIO where hasOpeningFailed:
      return (.notFound, "device not connected; connect it or choose another device")
    case EIO where hasOpeningFailed:
      return (
        .other,
        "the device reports an input/output error; reconnect it, or restart its sound server"
      )
    case ENOMEM:
      return (
        .other, "out of memory; use a smaller buffer or close other programs"
      )
    case EMFILE, ENFILE:
      return (.other, "too many open files; close some, or raise the limit with 'ulimit -n'")
    case ENODEV, ENXIO, ENOTTY, EBADF, EBADFD, EIO:
      return (.disconnected, "device disconnected; reconnect it")
    case ECONNREFUSED, ECONNRESET, ECONNABORTED, ENOTCONN, EHOSTDOWN:
      return (.serverUnavailable, "the sound server does not respond; start it")
    case EACCES, EPERM:
      return (
        .permissionDenied,
        "permission denied; add your user to the group 'audio' to play on this device"
      )
    case ETIMEDOUT:
      return (.disconnected, "device stopped accepting frames; reconnect it")
    case EINVAL where failure.call == .write || failure.call == .mapCommit:
      return (.other, "the device rejects frames; Temblor reopens it")
    case EINVAL where hasOpeningFailed:
      return (.notFound, "device not defined in the ALSA configuration; choose another device")
    case EPIPE:
      return (.other, "repeated underruns; Temblor reopens the device")
    case ESTRPIPE:
      return (.other, "the device stays suspended; Temblor reopens it")
    default:
      let reason = unsafe String(cString: strerror(failure.errnoCode)).lowercased()
      return (.other, "the device failed (\(reason)); reconnect it, or choose another device")
    }
  }
}
