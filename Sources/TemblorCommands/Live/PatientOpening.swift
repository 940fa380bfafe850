import HapticPlayback
import Synchronization
import SystemSupport

/// Opens an output on a thread of its own, so that a signal and a limit in time end the wait for one that
/// hangs.
struct PatientOpening {
  /// How long opening may take; a sound server that has to be started needs some seconds.
  private static let limit = Duration.seconds(10)

  /// What came of opening, handed from one thread to the other.
  private final class Box: Sendable {
    private struct Result: @unchecked Sendable { var value: Swift.Result<OpenedOutput, OutputError> }

    private let result = Mutex<Result?>(nil)

    func put(_ value: consuming Swift.Result<OpenedOutput, OutputError>) {
      let value = Result(value: value)
      result.withLock { $0 = value }
    }

    func take() -> Swift.Result<OpenedOutput, OutputError>? {
      let taken = result.withLock { result in
        defer { result = nil }
        return result
      }
      return taken?.value
    }
  }

  private let output: String
  private let box = Box()
  private let thread: BackgroundThread

  init(_ outputs: OutputRegistry, _ output: String, _ request: OutputRequest, time: any TimeSource) {
    self.output = output
    let box = box
    thread = BackgroundThread {
      do throws(OutputError) { box.put(.success(try outputs.open(output, request, time: time))) } catch {
        box.put(.failure(error))
      }
    }
  }

  func wait() throws(OutputError) -> sending OpenedOutput {
    let notice = InterruptSignal()
    var watched = [PollDescriptor(thread.end.descriptor), PollDescriptor(notice.descriptor)]
    SystemTimeSource().wait(for: &watched, timeout: Self.limit)
    guard watched[0].received != 0, let result = box.take() else {
      throw OutputError(
        .unresponsive, output: output,
        "the device does not respond; reconnect it, restart its sound server, or choose another " + "device")
    }
    thread.wait(within: .zero)
    // Nobody else has it any more.
    nonisolated(unsafe) let opened = try result.get()
    return unsafe opened
  }
}
