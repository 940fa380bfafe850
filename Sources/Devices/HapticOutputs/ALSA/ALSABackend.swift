internal import CALSA
internal import Glibc
internal import SoundFile
internal import SystemSupport
public import HapticPlayback

/// ALSA's playback devices: cards, sound servers and files, whatever its configuration has a name
/// for.
public struct ALSABackend: OutputBackend {
  /// Makes the backend.
  public init() {}

  /// `alsa`.
  public var scheme: String { "alsa" }
  /// A device, as ALSA's configuration names it, or by a name that lasts.
  public var parameter: String? { "DEVICE" }

  /// All devices that have a name: the default first, then sound servers and cards, then the rest.
  ///
  /// The sinks of PipeWire and PulseAudio are among them. Nothing is played, a device in use is
  /// left alone, and one that does not answer within 2 s has that as its problem.
  public func outputs(probing: Bool) -> [OutputListing] {
    var devices = [
      OutputListing(name: "default", description: "Default device of the ALSA configuration")
    ]
    for device in DeviceNameBindings.namedDevices() + DeviceNameBindings.cardDevices()
    where !Self.conversionPlugins.contains(device.name) {
      if let index = devices.firstIndex(where: { $0.name == device.name }) {
        if devices[index].name == "default" {
          devices[index] = device
        }
      } else {
        devices.append(device)
      }
    }
    devices += SoundServers.system.listings(plugIns: Set(devices.map(\.name)))
    if probing {
      devices = devices.map(probed)
    }
    // Sorting keeps no order of equals.
    return devices.enumerated().sorted {
      (Self.sortRank(of: $0.element.name), $0.offset) < (
        Self.sortRank(of: $1.element.name), $1.offset
      )
    }.map(\.element)
  }

  /// The entry with its capabilities, asked on a thread of its own that is left behind where the
  /// device hangs.
  public func probed(_ listing: OutputListing) -> OutputListing {
    // A server's plug-in has the same capabilities for every sink.
    if NamedSink(device: listing.name) != nil { return listing }
    let box = Locked(listing)
    var failed = listing
    do throws(PlaybackError) {
      let thread = try BackgroundThread { box.withLock { Self.probe(&$0) } }
      if thread.wait(within: Self.probeTimeout) { return box.withLock { $0 } }
      failed.probeError = OutputError(
        .unresponsive, output: listing.name, "the device does not respond")
    } catch {
      failed.probeError = OutputError(.other, output: listing.name, error.description)
    }
    return failed
  }

  /// Plug-ins of the configuration that convert for other devices: nobody plays on them by their
  /// name.
  private static let conversionPlugins: Set<String> = [
    "lavrate", "samplerate", "speexrate", "speex", "upmix", "vdownmix", "oss",
  ]

  /// How long a device may take to say what it can do; a sound server that is asleep needs a
  /// second.
  private static let probeTimeout = Duration.seconds(2)

  private static func probe(_ device: inout OutputListing) {
    do throws(PCMFailure) {
      let pcm = try PCM(opening: device.name, interception: nil)
      try pcm.startNegotiation()
      device.capabilities = OutputListing.Capabilities(
        rates: try PCMNegotiation.rates(of: pcm),
        channelCounts: PCMNegotiation.channelCounts(of: pcm, in: try pcm.channelCounts()),
        encodings: SampleEncoding.allCases.filter { pcm.supports($0) }.map(\.rawValue),
        periodSizes: try pcm.periodSizes(),
        isHardware: pcm.isSoundCard || pcm.dumpText().mentions("Hardware PCM card"))
    } catch {
      device.probeError = OutputError(error, device: device.name)
    }
  }

  /// Where a name belongs in the list; the smallest comes first.
  private static func sortRank(of name: String) -> Int {
    switch name.prefix(while: { $0 != ":" }) {
    case "default": 0
    case "pipewire", "pulse", "jack": 1
    case "hw", "plughw", "sysdefault": 2
    case "null": 5
    default: 3
    }
  }

  /// Whether the device can be opened, which is tried.
  public func isAvailable(_ name: String) -> Bool {
    (try? ALSASink(PCMRequest(device: name))) != nil
  }

  /// The silence before the first frame: several times what PulseAudio was seen to swallow.
  private static let warmUpDuration = Duration.milliseconds(50)

  /// Opens a device; the sink goes by the device's clock as far as it has one.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource)
    throws(OutputError)
    -> sending OpenedOutput
  {
    guard temblor_has_asound() else {
      throw OutputError(.other, output: name, "needs ALSA; install the package libasound2")
    }
    let encoding: SampleEncoding? = try request.encoding.map { word throws(OutputError) in
      if let encoding = SampleEncoding(rawValue: word) { return encoding }
      throw OutputError(
        .unsupportedFormat, output: name,
        "unknown sample format '\(word)'; use "
          + SampleEncoding.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let namedSink = NamedSink(device: name)
    if let namedSink {
      try SinkPinning.require(for: namedSink, device: name)
    }
    let pinnedStreamCount = SinkPinning.pinnedStreamCount
    let sink = try ALSASink(
      PCMRequest(
        device: name, rate: request.rate, allowsOtherRate: request.allowsOtherRate,
        channels: request.channels,
        encoding: encoding, periodSize: request.periodSize, bufferSize: request.bufferSize,
        warmUpDuration: Self.warmUpDuration),
      clock: time)
    if let namedSink {
      try SinkPinning.checkPinned(namedSink, since: pinnedStreamCount, device: name)
    }
    return OpenedOutput(
      sink: sink, name: name, encoding: sink.configuration.encoding.rawValue,
      isHardware: sink.configuration.isHardware,
      isServerStream: sink.configuration.isServerStream)
  }
}

/// The funnel to the library's lists of names: one function for each list.
enum DeviceNameBindings {
  /// `snd_device_name_hint`: what the configuration has names for and can play.
  static func namedDevices() -> [OutputListing] {
    LibraryErrors.silence()
    var list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard unsafe snd_device_name_hint(-1, "pcm", &list) == 0, let list = unsafe list else {
      return []
    }
    defer { unsafe snd_device_name_free_hint(list) }
    var devices: [OutputListing] = []
    var index = 0
    while let hint = unsafe list[index] {
      index += 1
      // A name without a direction goes both ways.
      guard let name = unsafe hintText("NAME", of: hint),
        unsafe hintText("IOID", of: hint) ?? "Output" == "Output"
      else {
        continue
      }
      let description = unsafe hintText("DESC", of: hint) ?? name
      devices.append(OutputListing(name: name, description: singleLine(description)))
    }
    return devices
  }

  /// `snd_card_next` and `snd_ctl_pcm_next_device`: the cards themselves, also those without a
  /// name.
  static func cardDevices() -> [OutputListing] {
    LibraryErrors.silence()
    var devices: [OutputListing] = []
    var card: Int32 = -1
    while unsafe snd_card_next(&card) == 0, card >= 0 {
      var control: OpaquePointer?
      guard unsafe snd_ctl_open(&control, "hw:\(card)", Int32(SND_CTL_NONBLOCK)) == 0 else {
        continue
      }
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
        let lasting =
          PersistentDeviceName.persistentName(ofCard: Int(card)).map { ", also \($0)" } ?? ""
        devices.append(
          OutputListing(
            name: "hw:\(card),\(number)", description: singleLine(name ?? "A sound card") + lasting)
        )
      }
    }
    return devices
  }

  private static func hintText(_ key: String, of hint: UnsafeMutableRawPointer) -> String? {
    guard let text = unsafe snd_device_name_get_hint(hint, key) else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  private static func singleLine(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: ", ")
  }
}

/// Names of sound cards that hold whatever the order in which cards are connected. `card:ID` is a
/// card by the kernel's
/// `id`, `usb:VENDOR:PRODUCT` the first one by its numbers in hexadecimal, and
/// `usb:VENDOR:PRODUCT:SERIAL` the one with that serial number.
enum PersistentDeviceName {
  /// The name by which ALSA opens the card that is meant now; nil where it is away, the name itself
  /// for another one.
  ///
  /// - Parameter root: In front of `/proc` and `/sys`.
  static func alsaName(for name: String, root: String = "") -> String? {
    if name.hasPrefix("card:") { return "plughw:CARD=" + name.dropFirst(5) }
    guard name.hasPrefix("usb:") else { return name }
    let parts = name.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3 else { return nil }
    let numbers = parts[1...2].joined(separator: ":").lowercased()
    return cardNumbers(root: root).first { card in
      firstLine(ofFile: "\(root)/proc/asound/card\(card)/usbid") == numbers
        && (parts.count < 4 || serialNumber(ofCard: card, root: root) == String(parts[3]))
    }.map { "plughw:\($0)" }
  }

  /// What a USB card is called here; nil for another one.
  static func persistentName(ofCard card: Int, root: String = "") -> String? {
    firstLine(ofFile: "\(root)/proc/asound/card\(card)/usbid").map {
      "usb:" + $0 + (serialNumber(ofCard: card, root: root).map { ":" + $0 } ?? "")
    }
  }

  private static func cardNumbers(root: String) -> [Int] {
    let names = (try? FileSystem.names(in: root + "/proc/asound")) ?? []
    return names.compactMap { $0.hasPrefix("card") ? Int($0.dropFirst(4)) : nil }.sorted()
  }

  /// The card's device is an interface of what has the number.
  private static func serialNumber(ofCard card: Int, root: String) -> String? {
    firstLine(ofFile: "\(root)/sys/class/sound/card\(card)/device/../serial")
  }

  private static func firstLine(ofFile path: String) -> String? {
    guard let bytes = try? FileSystem.read(path, limit: 4_096) else { return nil }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
