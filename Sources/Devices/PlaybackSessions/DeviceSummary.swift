package import HapticPlayback
package import SystemSupport

/// The properties of an open device, for people and programs.
package struct DeviceSummary: Equatable, Sendable {
  package var name: String
  package var format: SinkFormat
  package var sampleFormatName: String
  /// A Boolean value that indicates whether a sound card plays the frames without a sound server.
  package var isHardware = false
  /// A Boolean value that indicates whether PulseAudio or PipeWire plays the frames.
  package var isServerStream = false
  /// A Boolean value that indicates whether the device was present when it was opened.
  package var isPresent = true

  package init(_ output: OpenedOutput) {
    name = output.name
    format = output.format
    sampleFormatName = output.encoding
    isHardware = output.isHardware
    isServerStream = output.isServerStream
    isPresent = output.isDevicePresent
  }

  /// Creates the summary of an output that would be opened.
  package init(name: String, format: SinkFormat) {
    self.name = name
    self.format = format
    sampleFormatName = ""
  }

  package var jsonFields: JSONObject {
    [
      "name": name, "rate": Int(format.rate), "channels": format.channelCount,
      "format": sampleFormatName,
      "periodSize": format.periodSize, "bufferSize": format.bufferSize, "hardware": isHardware,
    ]
  }
}
