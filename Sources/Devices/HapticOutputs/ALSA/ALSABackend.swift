internal import CALSA
internal import Glibc
internal import SoundFile
internal import SystemSupport
public import HapticPlayback

/// The output backend for ALSA playback devices: sound cards, sound servers, files, and all other
/// names in ALSA's configuration.
public struct ALSABackend: OutputBackend {
  /// Creates the backend.
  public init() {}

  /// The scheme of ALSA devices: `alsa`.
  public var scheme: String { "alsa" }
  /// The placeholder `DEVICE`: a name from ALSA's configuration, or a persistent name.
  public var addressPlaceholder: String? { "DEVICE" }

  /// Returns all named devices, with the default device first, then sound servers and cards, then
  /// all others.
  ///
  /// The sinks of PipeWire and PulseAudio are included. Probing plays nothing and skips devices in
  /// use; a device that does not respond within 2 s is listed with an error.
  public func outputs(probing: Bool) -> [OutputListing] {
    var deviceListings = [
      OutputListing(name: "default", description: "Default device of the ALSA configuration")
    ]
    for device in DeviceNameBindings.namedDevices() + DeviceNameBindings.cardDevices()
    where !Self.conversionPlugins.contains(device.name) {
      if let index = deviceListings.firstIndex(where: { $0.name == device.name }) {
        if deviceListings[index].name == "default" {
          deviceListings[index] = device
        }
      } else {
        deviceListings.append(device)
      }
    }
    deviceListings += SoundServers.system.listings(plugIns: Set(deviceListings.map(\.name)))
    if probing {
      deviceListings = deviceListings.map(probedListing)
    }
    // The sort is stable, so devices of equal rank keep their order.
    return deviceListings.sorted { Self.sortRank(of: $0.name) < Self.sortRank(of: $1.name) }
  }

  /// Returns a listing with the capabilities of its device, which are read on a separate thread.
  /// The thread is abandoned if the device hangs.
  public func probedListing(_ listing: OutputListing) -> OutputListing {
    // A server's plug-in has the same capabilities for every sink.
    if NamedSink(device: listing.name) != nil { return listing }
    let lockedListing = Locked(listing)
    var failedListing = listing
    do throws(PlaybackError) {
      let thread = try BackgroundThread { lockedListing.withLock { Self.probe(&$0) } }
      if thread.wait(within: Self.probeTimeout) { return lockedListing.withLock { $0 } }
      failedListing.probeError = OutputError(
        .unresponsive, output: listing.name, "the device does not respond")
    } catch {
      failedListing.probeError = OutputError(.other, output: listing.name, error.description)
    }
    return failedListing
  }

  /// The plug-ins that convert audio for other devices. Users do not select these plug-ins by name.
  private static let conversionPlugins: Set<String> = [
    "lavrate", "samplerate", "speexrate", "speex", "upmix", "vdownmix", "oss",
  ]

  /// The timeout of a probe. A sound server that is asleep needs a second.
  private static let probeTimeout = Duration.seconds(2)

  private static func probe(_ device: inout OutputListing) {
    do throws(PCMFailure) {
      let pcm = try PCM(opening: device.name, interception: nil)
      defer { pcm.close() }
      try pcm.startNegotiation()
      device.capabilities = OutputListing.Capabilities(
        rates: try PCMNegotiation.rates(of: pcm),
        channelCounts: PCMNegotiation.channelCounts(of: pcm, in: try pcm.channelCounts()),
        encodings: SampleEncoding.allCases.filter { pcm.supports($0) }.map(\.rawValue),
        periodSizes: try pcm.periodSizes(),
        isHardware: pcm.isSoundCard || pcm.dumpText().containsText("Hardware PCM card"))
    } catch {
      device.probeError = OutputError(error, device: device.name)
    }
  }

  /// Returns the sort rank of a device in the list, by its kind. Devices with the lowest rank come
  /// first.
  private static func sortRank(of name: String) -> Int {
    switch name.prefix(while: { $0 != ":" }) {
    case "default": 0
    case "pipewire", "pulse", "jack": 1
    case "hw", "plughw", "sysdefault": 2
    case "null": 5
    default: 3
    }
  }

  /// Opens the device and returns whether opening succeeded.
  public func isAvailable(_ name: String) -> Bool {
    guard let sink = try? ALSASink(PCMRequest(device: name)) else { return false }
    sink.close()
    return true
  }

  /// The duration of the silence that warms a stream up before the first frame. It is several times
  /// longer than the audio that PulseAudio was observed to drop.
  private static let warmUpDuration = Duration.milliseconds(50)

  /// Opens a device.
  ///
  /// - Parameters:
  ///   - name: The name of the device.
  ///   - request: The requested properties.
  ///   - time: The clock for the times that the device does not measure.
  public func open(_ name: String, _ request: OutputRequest, time: any TimeSource)
    throws(OutputError)
    -> sending OpenedOutput
  {
    guard temblor_has_asound() else {
      throw OutputError(.other, output: name, "requires ALSA; install the package libasound2")
    }
    let pcmRequest = try Self.pcmRequest(name, request)
    let namedSink = NamedSink(device: name)
    if let namedSink {
      try SinkPinning.requirePinning(for: namedSink, device: name)
    }
    let pinnedStreamCount = SinkPinning.pinnedStreamCount
    let sink = try ALSASink(pcmRequest, clock: time)
    if let namedSink {
      try SinkPinning.checkStreamWasPinned(namedSink, since: pinnedStreamCount, device: name)
    }
    return OpenedOutput(
      sink: sink, name: name, encoding: sink.configuration.encoding.rawValue,
      isHardware: sink.configuration.isHardware,
      isServerStream: sink.configuration.isServerStream)
  }
}

extension ALSABackend {
  /// Returns an output that opens a device as soon as it is present.
  ///
  /// - Parameters:
  ///   - name: The name of the device.
  ///   - request: The requested properties.
  ///   - time: The clock for the times that the device does not measure.
  public func openPlaceholder(for name: String, _ request: OutputRequest, time: any TimeSource)
    -> sending OpenedOutput?
  {
    guard temblor_has_asound(), let pcmRequest = try? Self.pcmRequest(name, request) else {
      return nil
    }
    let sink = ALSASink(waitingFor: pcmRequest, clock: time)
    return OpenedOutput(
      sink: sink, name: name, encoding: sink.configuration.encoding.rawValue, isDevicePresent: false
    )
  }

  private static func pcmRequest(_ name: String, _ request: OutputRequest) throws(OutputError)
    -> PCMRequest
  {
    let encoding: SampleEncoding? = try request.encoding.map { word throws(OutputError) in
      if let encoding = SampleEncoding(rawValue: word) { return encoding }
      throw OutputError(
        .unsupportedFormat, output: name,
        "unknown sample format '\(word)'; use "
          + SampleEncoding.allCases.map(\.rawValue).joined(separator: ", "))
    }
    return PCMRequest(
      device: name, rate: request.rate, allowsOtherRate: request.allowsOtherRate,
      channels: request.channels,
      encoding: encoding, periodSize: request.periodSize, bufferSize: request.bufferSize,
      adaptsBuffer: request.adaptsBuffer, warmUpDuration: warmUpDuration)
  }
}

/// The calls that list devices, with one function for each of the two lists that the ALSA library
/// provides.
enum DeviceNameBindings {
  /// Calls `snd_device_name_hint`, and returns the configured devices that can play.
  static func namedDevices() -> [OutputListing] {
    LibraryErrors.silenceALSA()
    var hintList: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard unsafe snd_device_name_hint(-1, "pcm", &hintList) == 0, let hintList = unsafe hintList
    else {
      return []
    }
    defer { unsafe snd_device_name_free_hint(hintList) }
    var listings: [OutputListing] = []
    var hintIndex = 0
    while let hint = unsafe hintList[hintIndex] {
      hintIndex += 1
      // A name without a direction is valid for both.
      guard let name = unsafe hintText("NAME", of: hint),
        unsafe hintText("IOID", of: hint) ?? "Output" == "Output"
      else {
        continue
      }
      let description = unsafe hintText("DESC", of: hint) ?? name
      listings.append(OutputListing(name: name, description: textOnSingleLine(description)))
    }
    return listings
  }

  /// Calls `snd_card_next` and `snd_ctl_pcm_next_device`, and returns the devices of all cards,
  /// including those without a configured name.
  static func cardDevices() -> [OutputListing] {
    LibraryErrors.silenceALSA()
    var listings: [OutputListing] = []
    var cardNumber: Int32 = -1
    while unsafe snd_card_next(&cardNumber) == 0, cardNumber >= 0 {
      var control: OpaquePointer?
      guard unsafe snd_ctl_open(&control, "hw:\(cardNumber)", Int32(SND_CTL_NONBLOCK)) == 0 else {
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
        // A capture-only device has no playback stream.
        guard unsafe snd_ctl_pcm_info(control, information) == 0 else { continue }
        let name = unsafe snd_pcm_info_get_name(information).map { unsafe String(cString: $0) }
        let lasting =
          PersistentDeviceName.persistentName(ofCard: Int(cardNumber)).map { ", also \($0)" } ?? ""
        listings.append(
          OutputListing(
            name: "hw:\(cardNumber),\(number)",
            description: textOnSingleLine(name ?? "A sound card") + lasting)
        )
      }
    }
    return listings
  }

  private static func hintText(_ key: String, of hint: UnsafeMutableRawPointer) -> String? {
    guard let text = unsafe snd_device_name_get_hint(hint, key) else { return nil }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  private static func textOnSingleLine(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: ", ")
  }
}

/// Resolves persistent names of sound cards, which do not depend on the order in which cards are
/// connected. A name is `card:ID` by the kernel's `id`, `usb:VENDOR:PRODUCT` for the first card
/// with these hexadecimal numbers, or `usb:VENDOR:PRODUCT:SERIAL` for the card with a serial
/// number.
enum PersistentDeviceName {
  /// Returns the ALSA name of the device to which a persistent name currently refers.
  ///
  /// - Parameters:
  ///   - name: A persistent name, or any other name, which is returned unchanged.
  ///   - root: The prefix of `/proc` and `/sys`.
  /// - Returns: The current name; nil if the card is not connected.
  static func alsaName(for name: String, root: String = "") -> String? {
    if name.hasPrefix("card:") { return "plughw:CARD=" + name.dropFirst(5) }
    guard name.hasPrefix("usb:") else { return name }
    let nameComponents = name.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
    guard nameComponents.count >= 3 else { return nil }
    let usbID = nameComponents[1...2].joined(separator: ":").lowercased()
    return cardNumbers(root: root).first { card in
      firstLine(ofFile: "\(root)/proc/asound/card\(card)/usbid") == usbID
        && (nameComponents.count < 4
          || serialNumber(ofCard: card, root: root) == String(nameComponents[3]))
    }.map { "plughw:\($0)" }
  }

  /// Returns the persistent name of a USB card; nil for other cards.
  static func persistentName(ofCard card: Int, root: String = "") -> String? {
    firstLine(ofFile: "\(root)/proc/asound/card\(card)/usbid").map {
      "usb:" + $0 + (serialNumber(ofCard: card, root: root).map { ":" + $0 } ?? "")
    }
  }

  private static func cardNumbers(root: String) -> [Int] {
    let entryNames = (try? FileSystem.visibleNames(in: root + "/proc/asound")) ?? []
    return entryNames.compactMap { $0.hasPrefix("card") ? Int($0.dropFirst(4)) : nil }.sorted()
  }

  /// Returns the serial number of a USB card. In sysfs, the `device` of a card is a USB interface,
  /// and its parent has the serial number.
  private static func serialNumber(ofCard card: Int, root: String) -> String? {
    firstLine(ofFile: "\(root)/sys/class/sound/card\(card)/device/../serial")
  }

  private static func firstLine(ofFile path: String) -> String? {
    guard let fileBytes = try? FileSystem.read(path, limit: 4_096) else { return nil }
    return String(decoding: fileBytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
