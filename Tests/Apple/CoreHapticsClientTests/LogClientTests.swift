import Testing

@testable import os

/// The formats of messages that applications log with `os_log`.
@Suite struct LogClientTests {
  @Test("A format contains its values in order, without their privacy")
  func formats() {
    let text = OSLogFormat.formattedText(
      "%{public}@ at %.2f s, %d of %{private}ld, 0x%x, 100 %%, %@", ["tap", 1.5, 3, 7, 255])
    #expect(text == "tap at 1.50 s, 3 of 7, 0xff, 100 %, ")
  }

  @Test("Messages of both forms compile")
  func messages() {
    let log = OSLog.disabled
    os_log("%{public}@", log: log, type: .error, "lost")
    os_log("plain", log: log)
    os_log(.debug, log: log, "started \(1)")
  }
}
