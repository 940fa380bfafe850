import HapticOutputs
import HapticPlayback
import Testing

@Suite struct ALSADeviceListTests {
  @Test func defaultIsFirstAndNullIsLast() {
    let names = ALSABackend().outputs(probing: false).map(\.name)
    #expect(names.first == "default")
    #expect(names.last == "null")
    #expect(Set(names).count == names.count)
  }

  @Test func nullDeviceSupportsEverything() throws {
    let devices = ALSABackend().outputs(probing: true)
    let nullDevice = try #require(devices.first { $0.name == "null" })
    #expect(nullDevice.probeError == nil)
    let capabilities = try #require(nullDevice.capabilities)
    #expect(
      capabilities.rates == [
        8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000,
      ])
    #expect(capabilities.channelCounts == Array(1...64))
    #expect(capabilities.encodings == ["float", "s32", "s24", "s24_3", "s16"])
    #expect(capabilities.periodSizes.contains(64))
    #expect(!capabilities.isHardware)
  }

  @Test func devicesHaveCapabilitiesOrAProbeError() {
    // The sinks of a sound server are listed without capabilities.
    for device in ALSABackend().outputs(probing: true) where NamedSink(device: device.name) == nil {
      #expect((device.capabilities == nil) == (device.probeError != nil))
      #expect(!device.description.contains("\n"))
    }
  }
}
