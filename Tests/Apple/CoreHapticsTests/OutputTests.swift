import Foundation
import HapticPlayback
import HapticRender
import Testing

@testable import CoreHaptics

/// The output that the environment names, and engines that play there in real time.
@Suite struct OutputTests {
  @Test(arguments: [
    ("alsa:hw:1,0", OutputName(scheme: "alsa", address: "hw:1,0")),
    ("wav:/tmp/x.wav", OutputName(scheme: "wav", address: "/tmp/x.wav")),
    ("null", OutputName(scheme: "null")),
    ("virtual", nil), ("", OutputName(scheme: "alsa", address: "default")),
  ]) func outputsAreNamed(text: String, output: OutputName?) {
    let configuration = OutputConfiguration(["TEMBLOR_OUTPUT": text])
    #expect(configuration.outputName == output)
    #expect(configuration.problemMessage == nil)
  }

  @Test func deviceVariableIsUsedWithoutAnOutput() {
    let deviceOutput = OutputName(scheme: "alsa", address: "plughw:CARD=Device")
    #expect(
      OutputConfiguration(["TEMBLOR_DEVICE": "plughw:CARD=Device"]).outputName == deviceOutput)
    #expect(
      OutputConfiguration(["TEMBLOR_DEVICE": "null:"]).outputName == OutputName(scheme: "null"))
    #expect(
      OutputConfiguration(["TEMBLOR_DEVICE": ""]).outputName
        == OutputName(scheme: "alsa", address: "default"))
    #expect(
      OutputConfiguration(["TEMBLOR_DEVICE": "hw:1", "TEMBLOR_OUTPUT": "virtual"]).outputName == nil
    )
  }

  @Test(arguments: ["oss", "alsa:", "wav", "null:x", ":"]) func invalidOutputIsReportedByEveryStart(
    text: String
  ) throws {
    let engine = CHHapticEngine(backend: LiveBackend(OutputConfiguration(["TEMBLOR_OUTPUT": text])))
    let error = #expect(throws: CHHapticError.self) { try engine.start() }
    #expect(error?.code == .invalidEngineParameter)
    #expect(
      error?.localizedDescription
        == "TEMBLOR_OUTPUT is '\(text)'; it must be alsa:DEVICE, pipewire:NODE, wav:FILE, null or "
        + "virtual")
  }

  @Test func strengthAndProfileAreChecked() throws {
    let configurationWithStrength = OutputConfiguration([
      "TEMBLOR_OUTPUT": "null", "TEMBLOR_STRENGTH": "2",
    ])
    #expect(
      configurationWithStrength.problemMessage
        == "TEMBLOR_STRENGTH is '2'; it must be a number from 0 to 1")
    let configurationWithProfile = OutputConfiguration([
      "TEMBLOR_OUTPUT": "null", "TEMBLOR_PROFILE": "nosuch",
    ])
    let error = #expect(throws: CHHapticError.self) { try configurationWithProfile.loadProfile() }
    #expect(error?.localizedDescription == "TEMBLOR_PROFILE is 'nosuch': no such profile or file")
    #expect(try OutputConfiguration(["TEMBLOR_PROFILE": "speaker"]).loadProfile().name == "speaker")
  }

  @Test func profileOfTheUserIsFoundByName() throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "home-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: home) }
    let folder = home.appending(path: "temblor/profiles")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let text = #"{"name": "speaker", "summary": "S.", "frequency": {"low": 31, "high": 80}}"#
    try Data(text.utf8).write(to: folder.appending(path: "speaker.json"))
    try Data("{}".utf8).write(to: folder.appending(path: "bad.json"))
    func profile(_ name: String) throws -> TransducerProfile {
      try OutputConfiguration(["TEMBLOR_PROFILE": name, "XDG_CONFIG_HOME": home.path]).loadProfile()
    }
    #expect(try profile("speaker").frequency.lowHertz == 31)
    #expect(try profile("phone") == .phone)
    let error = #expect(throws: CHHapticError.self) { try profile("bad") }
    #expect(
      error?.localizedDescription == "\(folder.path)/bad.json:1:1: error: missing key \"name\"")
  }

  @Test func absentDeviceIsNotSupported() throws {
    let backend = LiveBackend(OutputConfiguration(["TEMBLOR_OUTPUT": "alsa:nosuchdevice"]))
    #expect(!backend.isOutputAvailable)
    let engine = CHHapticEngine(backend: backend)
    let player = try engine.makePlayer(with: tap())
    let error = #expect(throws: CHHapticError.self) { try engine.start() }
    #expect([.notSupported, .serverInitFailed].contains(error?.code))
    #expect(throws: CHHapticError.self) { try player.start(atTime: 0) }
  }

  @Test func engineOnTheNullDevicePlaysToTheEnd() async throws {
    let backend = LiveBackend(OutputConfiguration(["TEMBLOR_OUTPUT": "alsa:null"]))
    #expect(backend.isOutputAvailable)
    let engine = CHHapticEngine(backend: backend)
    try await engine.start()
    let player = try engine.makeAdvancedPlayer(with: tap())
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      player.completionHandler = { _ in continuation.resume() }
      do {
        try player.start(atTime: 0)
      } catch {
        Issue.record(error)
      }
    }
    #expect(engine.currentTime > 0)
    try await engine.stop()
  }

  @Test func soundFileContainsThePlayedHaptics() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(
      "\(UUID().uuidString).wav"
    ).path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let engine = CHHapticEngine(
      backend: LiveBackend(OutputConfiguration(["TEMBLOR_OUTPUT": "wav:\(path)"])))
    try await engine.start()
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      engine.notifyWhenPlayersFinished { _ in .leaveEngineRunning }
      do {
        let player = try engine.makeAdvancedPlayer(with: hum(1))
        player.completionHandler = { _ in continuation.resume() }
        try player.start(atTime: 0)
      } catch {
        Issue.record(error)
      }
    }
    try await engine.stop()
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(data.prefix(4) == Data("RIFF".utf8))
    // A second of two 16-bit channels. A busy machine may add gaps.
    #expect(data.count > 44 + 48_000 * 4)
    #expect(data.suffix(from: 44).contains { $0 != 0 })
  }
}
