import Glibc
import HapticOutputs
import HapticPlayback
import SoundFile
import Testing

/// The outputs of the standard registry by their names.
@Suite struct BackendTests {
  private let outputs = OutputRegistry.standard

  @Test func nameFormsIncludeEveryBackend() {
    #expect(outputs.nameForms == ["alsa:DEVICE", "pipewire:NODE", "wav:FILE", "null"])
  }

  /// The null device of ALSA keeps its name.
  @Test(arguments: ["null", "alsa:null"]) func nameWithoutASchemeIsADevice(name: String) throws {
    let output = try outputs.open(name, OutputRequest(channels: .exactly(3)))
    #expect(output.sink is ALSASink)
    #expect(output.name == "null")
    #expect(output.format.channelCount == 3)
  }

  @Test func nullWithAColonIsTheNullOutput() throws {
    #expect(try outputs.open("null:", OutputRequest()).sink is NullSink)
  }

  @Test func aRequestReachesTheDevice() throws {
    let output = try outputs.open(
      "null",
      OutputRequest(
        rate: 44_100, channels: .exactly(1), encoding: "s24_3", periodSize: 128, bufferSize: 512))
    #expect(output.encoding == "s24_3")
    #expect(
      output.format == SinkFormat(rate: 44_100, channelCount: 1, periodSize: 128, bufferSize: 512))
    #expect(!output.isHardware)
  }

  private func errorKind(_ name: String, _ request: OutputRequest = OutputRequest()) -> OutputError
    .Kind?
  {
    do throws(OutputError) {
      _ = try outputs.open(name, request)
      return nil
    } catch {
      return error.kind
    }
  }

  @Test func openingErrorsHaveAKind() {
    #expect(errorKind("no-such-device") == .notFound)
    #expect(errorKind("null", OutputRequest(encoding: "s13")) == .unsupportedFormat)
    #expect(errorKind("wav:/nowhere/a.wav") == .cannotWrite)
    #expect(errorKind("wav:/nowhere/a.wav", OutputRequest(encoding: "s24_3")) == .unsupportedFormat)
    #expect(errorKind("wav:") == .invalidName)
    #expect(errorKind("pipewire:NODE=-1") == .invalidName)
    #expect(errorKind("alsa:pulse:DEVICE=") == .invalidName)
    #expect(!outputs.isAvailable(outputs.parseName("no-such-device")))
    #expect(outputs.isAvailable(outputs.parseName("null")))
  }

  @Test func outputsAreListed() {
    let names = outputs.outputs(probing: false).map(\.name)
    #expect(names.first == "default")
    #expect(names.suffix(2) == ["wav:FILE", "null:"])
  }

  /// The second file of a name gets a number.
  @Test func everyFileOfANameIsKept() throws {
    var template = Array("/tmp/outputs-XXXXXX".utf8CString)
    let folder = unsafe String(cString: mkdtemp(&template))
    let paths = ["\(folder)/a.b/", "\(folder)/a.b/c.wav", "\(folder)/a.b/c-2.wav"]
    unsafe mkdir(paths[0], 0o700)
    defer {
      for path in paths.dropFirst() {
        unsafe unlink(path)
      }
      unsafe rmdir(paths[0])
      unsafe rmdir(folder)
    }
    let backend = SoundFileBackend()
    for (fileNumber, encoding) in [(1, nil), (2, "float")] {
      let output = try backend.open(
        paths[1], OutputRequest(rate: 8_000, encoding: encoding), time: VirtualTimeSource())
      #expect(output.name == paths[fileNumber])
      #expect(output.encoding == encoding ?? "s16")
      let wake = try WakeSignal()
      #expect(output.sink.wait(wake) == .ready(frameCount: 160))
      output.sink.write(Array(repeating: Float(0.25), count: 2 * fileNumber * 40).span)
      output.sink.finish(draining: true)
    }
    for fileNumber in 1...2 {
      let sound = try Sound(contentsOf: paths[fileNumber])
      #expect(sound.rate == 8_000)
      #expect(sound.frameCount == 40 * fileNumber)
    }
  }
}
