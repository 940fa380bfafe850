internal import CALSA
internal import Glibc
public import HapticPlayback
public import SoundFile
internal import SystemSupport

/// ALSA's playback devices: cards, sound servers and files, whatever its configuration has a name for.
public struct ALSABackend: OutputBackend {
  /// Makes the backend.
  public init() {}

  /// `alsa`.
  public var scheme: String { "alsa" }
  /// A device, as ALSA's configuration names it, or by a name that lasts.
  public var parameter: String? { "DEVICE" }

  /// All devices that have a name: the default first, then sound servers and cards, then the rest.
  public func outputs(probing: Bool) -> [OutputListing] { ALSADeviceList.devices(probing: probing).map(Self.listing) }

  /// The entry with its capabilities; the device has two seconds to answer.
  public func probed(_ listing: OutputListing) -> OutputListing {
    Self.listing(ALSADeviceList.probed(ALSADevice(name: listing.name, description: listing.description)))
  }

  private static func listing(_ device: ALSADevice) -> OutputListing {
    OutputListing(
      name: device.name, description: device.description,
      capabilities: device.capabilities.map {
        OutputListing.Capabilities(
          rates: $0.rates, channelCounts: $0.channelCounts, encodings: $0.encodings.map(\.rawValue),
          periodSizes: $0.periodLengths, isHardware: $0.isHardware)
      }, problem: device.problem.map(OutputError.init))
  }

  /// Whether the device can be opened, which is tried.
  public func isAvailable(_ name: String) -> Bool { (try? ALSASink(PCMRequest(device: name))) != nil }

  /// Opens a device; the sink goes by the device's clock as far as it has one.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource) throws(OutputError)
    -> sending OpenedOutput
  {
    guard temblor_has_asound() else {
      throw OutputError(.other, output: name, "needs ALSA; install the package libasound2")
    }
    let encoding: SampleEncoding? = try request.encoding.map { word throws(OutputError) in
      if let encoding = SampleEncoding(rawValue: word) { return encoding }
      throw OutputError(
        .unsupportedFormat, output: name,
        "unknown sample format '\(word)'; use " + SampleEncoding.allCases.map(\.rawValue).joined(separator: ", "))
    }
    do throws(ALSAError) {
      let sink = try ALSASink(PCMRequest(device: name, request, encoding: encoding), timekeeper: time)
      return OpenedOutput(sink: sink, name: name, encoding: sink.granted.encoding.rawValue, isHardware: sink.isHardware)
    } catch { throw OutputError(error) }
  }
}

extension OutputError {
  /// The error of a device of ALSA.
  public init(_ error: ALSAError) {
    let kind: Kind =
      switch error.kind {
      case .deviceBusy: .busy
      case .noSuchDevice: .notFound
      case .deviceDisconnected: .disconnected
      case .serverUnavailable: .serverUnavailable
      case .permissionDenied: .permissionDenied
      case .unresponsive: .unresponsive
      case .notPlayback: .notPlayback
      case .unsupportedFormat: .unsupportedFormat
      case .notCapture, .overrun, .other: .other
      }
    self.init(kind, output: error.device, error.description)
  }
}

/// The playback devices of this machine.
public enum ALSADeviceList {
  /// All devices that have a name: the default first, then sound servers and cards, then the rest.
  ///
  /// - Parameter probing: Whether each is opened for a moment to ask what it can do. Nothing is played, and a
  ///   device in use is left alone. A device that does not answer within two seconds has that as its problem.
  public static func devices(probing: Bool = true) -> [ALSADevice] {
    var devices = [ALSADevice(name: "default", description: "Default device of the ALSA configuration")]
    for device in DeviceNameBindings.hints() + DeviceNameBindings.cardDevices() where !plumbing.contains(device.name) {
      if let index = devices.firstIndex(where: { $0.name == device.name }) {
        if devices[index].name == "default" { devices[index] = device }
      } else {
        devices.append(device)
      }
    }
    if probing { for index in devices.indices { devices[index] = probed(devices[index]) } }
    // Sorting keeps no order of equals.
    return devices.enumerated().sorted { (rank($0.element.name), $0.offset) < (rank($1.element.name), $1.offset) }.map(
      \.element)
  }

  /// Plug-ins of the configuration that convert for other devices: nobody plays on them by their name.
  private static let plumbing: Set<String> = [
    "lavrate", "samplerate", "speexrate", "speex", "upmix", "vdownmix", "oss",
  ]

  /// How long a device may take to say what it can do; a sound server that is asleep needs a second.
  private static let probeLimit = Duration.seconds(2)

  /// The device with what it can do, asked on a thread of its own that is left behind where it hangs.
  static func probed(_ device: ALSADevice) -> ALSADevice {
    let box = Locked(device)
    var failed = device
    do throws(PlaybackError) {
      let thread = try BackgroundThread { box.withLock { probe(&$0) } }
      if thread.wait(within: probeLimit) { return box.withLock { $0 } }
      failed.problem = ALSAError(kind: .unresponsive, device: device.name, description: "the device does not respond")
    } catch { failed.problem = ALSAError(kind: .other, device: device.name, description: error.description) }
    return failed
  }

  static func probe(_ device: inout ALSADevice) {
    do throws(PCMFailure) {
      let pcm = try PCMBindings(opening: device.name, interception: nil)
      try pcm.startNegotiation()
      let anatomy = pcm.anatomy()
      device.capabilities = ALSADevice.Capabilities(
        rates: try PCMNegotiation.rates(of: pcm),
        channelCounts: PCMNegotiation.channelCounts(of: pcm, in: try pcm.channelCounts()),
        encodings: SampleEncoding.allCases.filter { pcm.offers($0) }, periodLengths: try pcm.periodLengths(),
        isHardware: pcm.isCard || anatomy.mentions("Hardware PCM card"))
    } catch { device.problem = ALSAError(error, device: device.name) }
  }

  /// Where a name belongs in the list; the smallest comes first.
  private static func rank(_ name: String) -> Int {
    switch name.prefix(while: { $0 != ":" }) {
    case "default": 0
    case "pipewire", "pulse", "jack": 1
    case "hw", "plughw", "sysdefault": 2
    case "null": 5
    default: 3
    }
  }
}

/// A playback device that has a name.
public struct ALSADevice: Equatable, Sendable {
  /// What a device can do by itself, without conversion.
  public struct Capabilities: Equatable, Sendable {
    /// The common rates it has, in hertz, or the ends of its range.
    public var rates: [Int]
    /// The numbers of channels it has, up to 64.
    public var channelCounts: [Int]
    /// How samples can be stored, best first.
    public var encodings: [SampleEncoding]
    /// Frames of a period, least and most.
    public var periodLengths: ClosedRange<Int>
    /// Whether a sound card plays the frames without a sound server between.
    public var isHardware: Bool
  }

  /// The name to ask for.
  public var name: String
  /// What the configuration or the card says of itself, on one line.
  public var description: String
  /// What it can do; nothing where it could not be asked.
  public internal(set) var capabilities: Capabilities?
  /// Why it could not be asked.
  public internal(set) var problem: ALSAError?
}

/// The funnel to the library's lists of names: one function for each list.
enum DeviceNameBindings {
  /// `snd_device_name_hint`: what the configuration has names for and can play.
  static func hints() -> [ALSADevice] {
    LibraryErrors.silence()
    var list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard unsafe snd_device_name_hint(-1, "pcm", &list) == 0, let list = unsafe list else { return [] }
    defer { unsafe snd_device_name_free_hint(list) }
    var devices: [ALSADevice] = []
    var index = 0
    while let hint = unsafe list[index] {
      index += 1
      // A name without a direction goes both ways.
      guard let name = unsafe text("NAME", of: hint), unsafe text("IOID", of: hint) ?? "Output" == "Output" else {
        continue
      }
      let description = unsafe text("DESC", of: hint) ?? name
      devices.append(ALSADevice(name: name, description: line(description)))
    }
    return devices
  }

  /// `snd_card_next` and `snd_ctl_pcm_next_device`: the cards themselves, also those without a name.
  static func cardDevices() -> [ALSADevice] {
    LibraryErrors.silence()
    var devices: [ALSADevice] = []
    var card: Int32 = -1
    while unsafe snd_card_next(&card) == 0, card >= 0 {
      var control: OpaquePointer?
      guard unsafe snd_ctl_open(&control, "hw:\(card)", Int32(SND_CTL_NONBLOCK)) == 0 else { continue }
      defer { unsafe snd_ctl_close(control) }
      var number: Int32 = -1
      while unsafe snd_ctl_pcm_next_device(control, &number) == 0, number >= 0 {
        var information: OpaquePointer?
        guard unsafe snd_pcm_info_malloc(&information) == 0 else { continue }
        defer { unsafe snd_pcm_info_free(information) }
        unsafe snd_pcm_info_set_device(information, UInt32(number))
        unsafe snd_pcm_info_set_stream(information, SND_PCM_STREAM_PLAYBACK)
        // A device that only records has no such stream.
        guard unsafe snd_ctl_pcm_info(control, information) == 0 else { continue }
        let name = unsafe snd_pcm_info_get_name(information).map { unsafe String(cString: $0) }
        let lasting = LastingName.name(ofCard: Int(card)).map { ", also \($0)" } ?? ""
        devices.append(ALSADevice(name: "hw:\(card),\(number)", description: line(name ?? "A sound card") + lasting))
      }
    }
    return devices
  }

  /// `snd_device_name_get_hint`.
  private static func text(_ key: String, of hint: UnsafeMutableRawPointer) -> String? {
    guard let text = unsafe snd_device_name_get_hint(hint, key) else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  private static func line(_ text: String) -> String { text.split(separator: "\n").joined(separator: ", ") }
}
