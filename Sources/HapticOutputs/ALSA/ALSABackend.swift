public import HapticPlayback
internal import SoundFile

/// ALSA's playback devices: cards, sound servers and files, whatever its configuration has a name for.
public struct ALSABackend: OutputBackend {
  /// Makes the backend.
  public init() {}

  /// `alsa`.
  public var scheme: String { "alsa" }
  /// A device, as ALSA's configuration names it.
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
