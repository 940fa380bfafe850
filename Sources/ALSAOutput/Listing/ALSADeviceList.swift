internal import PCMSamples

/// The playback devices of this machine.
public enum ALSADeviceList {
  /// All devices that have a name: the default first, then sound servers and cards, then the rest.
  ///
  /// - Parameter probing: Whether each is opened for a moment to ask what it can do. Nothing is played, and a
  ///   device in use is left alone; a sound server may need a moment to answer.
  public static func devices(probing: Bool = true) -> [ALSADevice] {
    var devices = [
      ALSADevice(name: "default", description: "Default device of the ALSA configuration")
    ]
    for device in DeviceNameBindings.hints() + DeviceNameBindings.cardDevices() {
      if let index = devices.firstIndex(where: { $0.name == device.name }) {
        if devices[index].name == "default" { devices[index] = device }
      } else {
        devices.append(device)
      }
    }
    if probing { for index in devices.indices { probe(&devices[index]) } }
    // Sorting keeps no order of equals.
    return devices.enumerated()
      .sorted { (rank($0.element.name), $0.offset) < (rank($1.element.name), $1.offset) }
      .map(\.element)
  }

  /// Asks a device what it can do.
  static func probe(_ device: inout ALSADevice) {
    do throws(PCMFailure) {
      let pcm = try PCMBindings(opening: device.name, interception: nil)
      try pcm.startNegotiation()
      let anatomy = pcm.anatomy()
      device.abilities = ALSADevice.Capabilities(
        rates: try PCMNegotiation.rates(of: pcm),
        channelCounts: PCMNegotiation.channelCounts(of: pcm, in: try pcm.channelCounts()),
        encodings: SampleEncoding.allCases.filter { pcm.offers($0) },
        periodLengths: try pcm.periodLengths(),
        isHardware: pcm.isCard || anatomy.contains("Hardware PCM card"))
    } catch {
      device.problem = ALSAError(error, device: device.name)
    }
  }

  /// Where a name belongs in the list; the smallest comes first.
  private static func rank(_ name: String) -> Int {
    switch name.prefix(while: { $0 != ":" }) {
    case "default": 0
    case "pipewire", "pulse", "jack": 1
    case "hw", "plughw", "sysdefault": 2
    case "null": 5
    case "lavrate", "samplerate", "speexrate", "speex", "upmix", "vdownmix", "oss": 4
    default: 3
    }
  }
}
