import HapticPlayback
import TestSupport
import Testing

@testable import HapticOutputs

@Suite struct PersistentDeviceNameTests {
  private let testFolder: TemporaryFolder

  init() throws {
    testFolder = try TemporaryFolder()
    for folderName in [
      "proc", "proc/asound", "proc/asound/card0", "sys", "sys/class", "sys/class/sound",
    ] {
      try testFolder.makeFolder(folderName)
    }
    try testFolder.write("PCH\n", to: "proc/asound/card0/id")
  }

  private func connect(_ card: Int, _ vendorAndProductID: String, serial: String?) throws {
    try testFolder.makeFolder("proc/asound/card\(card)")
    try testFolder.write(vendorAndProductID + "\n", to: "proc/asound/card\(card)/usbid")
    for folderName in ["sys/class/sound/card\(card)", "sys/class/sound/card\(card)/usb\(card)"] {
      try testFolder.makeFolder(folderName)
    }
    let device = "sys/class/sound/card\(card)/usb\(card)"
    try testFolder.makeFolder(device + "/interface")
    if let serial {
      try testFolder.write(serial + "\n", to: device + "/serial")
    }
    try testFolder.link("sys/class/sound/card\(card)/device", to: testFolder(device + "/interface"))
  }

  private func alsaName(_ name: String) -> String? {
    PersistentDeviceName.alsaName(for: name, root: testFolder.path)
  }

  @Test func absentCardHasNoName() {
    for name in ["usb:0d8c:0014", "usb:0d8c:0014:A", "usb:", "usb:0d8c"] {
      #expect(alsaName(name) == nil, "\(name)")
    }
  }

  @Test func cardIsFoundAfterItIsReconnected() throws {
    try connect(2, "0d8c:0014", serial: "A:1")
    try connect(1, "0d8c:0014", serial: nil)
    try connect(10, "1234:abcd", serial: "B")
    #expect(alsaName("usb:0d8c:0014") == "plughw:1")
    #expect(alsaName("usb:0D8C:0014:A:1") == "plughw:2")
    #expect(alsaName("usb:0d8c:0014:a:1") == nil)
    #expect(alsaName("usb:1234:ABCD") == "plughw:10")
    #expect(alsaName("usb:1234:abcd:C") == nil)
    for card in [1, 2, 10] {
      let name = try #require(
        PersistentDeviceName.persistentName(ofCard: card, root: testFolder.path))
      #expect(alsaName(name) == "plughw:\(card)")
    }
    #expect(PersistentDeviceName.persistentName(ofCard: 0, root: testFolder.path) == nil)
    // The same device is now another card.
    testFolder.remove("proc/asound/card2/usbid")
    try connect(3, "0d8c:0014", serial: "A:1")
    #expect(alsaName("usb:0d8c:0014:A:1") == "plughw:3")
  }

  @Test func otherNamesAreUnchanged() {
    #expect(alsaName("card:Device_1") == "plughw:CARD=Device_1")
    for name in ["default", "hw:1,0", "usbstream:CARD=x", ""] {
      #expect(alsaName(name) == name)
    }
  }

  @Test func absentDeviceWithAPersistentNameIsNotFound() {
    #expect { try ALSASink(PCMRequest(device: "usb:ffff:ffff:none")) } throws: {
      ($0 as? OutputError)?.kind == .notFound
    }
  }
}
