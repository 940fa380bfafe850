import HapticPlayback
import Testing

@testable import HapticOutputs

/// The sink on a server in virtual time. Every frame has its number as its sample, from 1 on.
@Suite struct PipeWireSinkTests {
  /// A sink that plays on a fake server.
  private final class SinkFixture {
    let server = FakePipeWire()
    let sink: PipeWireSink
    private let wake = WakeSignal.makeOrInert()
    private(set) var events: [SinkEvent] = []
    private(set) var position = 0

    init(adaptsBuffer: Bool = false, isPresent: Bool = true) throws {
      let signal = try WakeSignal()
      let transfer = PipeWireTransfer(
        rate: 48_000, channelCount: 2, maximumFill: 4_096, signal: signal)
      let request = PipeWireStreamRequest(
        targetName: "shaker", endpoint: .sink, rate: 48_000, cycleSize: 256, channelNames: ["", ""])
      let stateMachine =
        isPresent
        ? PipeWireStateMachine() : PipeWireStateMachine(request, reportsFirstConnection: true)
      let server = server
      let connection = try #require(
        try PipeWireConnection(
          stateMachine, clock: server, changeSignal: signal,
          owner: isPresent ? .none : transfer.streamCallbacks
        ) { handler in
          server.handler = handler
          return server
        })
      server.connection = connection
      if isPresent {
        // The objects of the server are read first, on the connection that then has the stream.
        connection.performDueActions()
        #expect(connection.withMachine { $0.isGraphComplete && !$0.isRouteVerified })
        connection.requestStream(request, for: transfer.streamCallbacks)
        connection.performDueActions()
        #expect(connection.withMachine { $0.isRouteVerified })
      }
      sink = PipeWireSink(
        device: "pipewire:shaker", connection: connection, transfer: transfer,
        growth: BufferGrowth(initial: 512, adaptsBuffer: adaptsBuffer), periodSize: 256,
        isPresent: isPresent, clock: server)
    }

    /// Plays numbered frames up to a time since the start of the server.
    ///
    /// - Parameter pauses: The intervals in which the render thread does not run, in seconds.
    func play(until seconds: Double, holding pauses: [ClosedRange<Double>] = []) {
      let endTime = Duration.seconds(100 + seconds)
      while server.now < endTime {
        let elapsedSeconds = server.now / .seconds(1) - 100
        if let interval = pauses.first(where: { $0.contains(elapsedSeconds) }) {
          var noDescriptors: [PollDescriptor] = []
          server.wait(
            for: &noDescriptors, timeout: .seconds(interval.upperBound - elapsedSeconds + 1e-6))
          continue
        }
        switch sink.wait(wake) {
        case .ready(let frameCount): write(frameCount)
        case .missed(let frameCount), .late(let frameCount): position += frameCount
        case .interrupted, .ended: break
        }
        events += sink.drainEvents()
      }
    }

    private func write(_ frameCount: Int) {
      guard frameCount > 0 else { return }
      var samples = [Float](repeating: 0, count: 2 * frameCount)
      for index in 0..<frameCount {
        position += 1
        samples[2 * index] = Float(position)
        samples[2 * index + 1] = Float(position)
      }
      sink.write(samples.span)
    }

    func finish() {
      sink.finish(draining: true)
      events += sink.drainEvents()
      sink.close()
    }

    /// The cycles in which frames were heard.
    var outputsWithSound: [FakePipeWire.Output] {
      server.outputs.filter { !$0.playedFrames.isEmpty }
    }

    var playedFrameCount: Int { outputsWithSound.reduce(0) { $0 + $1.playedFrames.count } }

    var missedFrameCount: Int { events.reduce(0) { $0 + $1.missedFrameCount } }
  }

  /// Checks that only the sink was heard, that every frame was heard once or is counted as missed,
  /// and that every frame was heard when it was due.
  private static func check(_ fixture: SinkFixture, _ name: String) {
    let audibleOutputs = fixture.outputsWithSound
    let strayCycleCount = audibleOutputs.count { !$0.isConnected }
    #expect(strayCycleCount == 0, "\(name): \(strayCycleCount) stray cycles")
    let isOrdered = zip(audibleOutputs, audibleOutputs.dropFirst()).allSatisfy {
      $0.playedFrames.upperBound <= $1.playedFrames.lowerBound
    }
    #expect(isOrdered, "\(name): a frame was heard twice or out of order")
    #expect(
      fixture.playedFrameCount + fixture.missedFrameCount == fixture.position,
      """
      \(name): \(fixture.playedFrameCount) heard and \(fixture.missedFrameCount) missed of \
      \(fixture.position)
      """
    )
    let startTimes = audibleOutputs.map { output in
      output.seconds - Double(output.playedFrames.lowerBound - output.offset) / 48_000
    }
    let spread = (startTimes.max() ?? 0) - (startTimes.min() ?? 0)
    #expect(spread < 0.02, "\(name): frames are up to \(spread) s off their due times")
  }

  @Test("Every frame is heard in order, without a loss")
  func undisturbed() throws {
    let fixture = try SinkFixture()
    fixture.play(until: 1)
    fixture.finish()
    #expect(fixture.events == [])
    #expect(fixture.playedFrameCount == fixture.position)
    Self.check(fixture, "undisturbed")
  }

  /// A fault: its changes, each with the time after its start in seconds.
  private static let faults: [(name: String, changes: [(Double, FakePipeWire.Change)])] = [
    ("removed", [(0, .removeSink), (0.3, .addSink)]),
    ("restarted", [(0, .stopServer), (0.5, .startServer)]),
    ("stray", [(0, .linkToDesktop), (0.2, .unlinkFromDesktop)]),
    ("twin", [(0, .addTwin), (0.2, .removeTwin)]),
    ("refused", [(0, .refuseStream)]),
    ("unlinked", [(0, .unlink), (0.15, .relink)]),
    ("late", [(0, .stall), (0.02, .continueCycles)]),
    ("stalled", [(0, .stall), (0.7, .continueCycles)]),
    ("repeated", [(0, .repeatCycle)]),
  ]

  @Test(
    "After any two faults, no other sink is heard, and every frame is accounted for",
    arguments: [0.05, 0.25])
  func twoFaults(interval: Double) throws {
    for first in Self.faults {
      for second in Self.faults {
        let fixture = try SinkFixture()
        let changes =
          first.changes.map { (0.4 + $0.0, $0.1) }
          + second.changes.map { (0.4 + interval + $0.0, $0.1) }
        fixture.server.changes = changes.sorted { $0.0 < $1.0 }.map {
          (.seconds(100 + $0.0), $0.1)
        }
        fixture.play(until: 2.6)
        fixture.finish()
        let name = "\(first.name), then \(second.name) after \(interval) s"
        Self.check(fixture, name)
        let failureEvent = fixture.events.first { $0.kind == .failed }
        #expect(failureEvent == nil, "\(name)")
      }
    }
  }

  @Test("A sink that disappears and returns is reported, with the missed frames")
  func returned() throws {
    let fixture = try SinkFixture()
    fixture.server.changes = [(.seconds(100.5), .removeSink), (.seconds(101), .addSink)]
    fixture.play(until: 2)
    fixture.finish()
    #expect(fixture.events.map(\.kind) == [.disconnected, .reconnected])
    #expect(abs(fixture.missedFrameCount - 24_000) < 1_000)
    let firstHeard = fixture.outputsWithSound.first { $0.seconds > 101 }
    #expect((firstHeard?.seconds ?? 0) < 101.02)
  }

  @Test("A sink that does not return is a failure")
  func lost() throws {
    let fixture = try SinkFixture()
    fixture.server.changes = [(.seconds(100.5), .removeSink)]
    fixture.play(until: 2)
    fixture.finish()
    #expect(fixture.events.map(\.kind) == [.disconnected, .failed])
    #expect(fixture.playedFrameCount + fixture.missedFrameCount == fixture.position)
  }

  @Test("A link to another sink silences the stream, and the message names that sink")
  func strayLink() throws {
    let fixture = try SinkFixture()
    fixture.server.changes = [(.seconds(100.5), .linkToDesktop)]
    fixture.play(until: 1)
    fixture.finish()
    #expect(fixture.events.first?.text.contains("a link connects the stream to 'desktop'") == true)
    Self.check(fixture, "stray")
  }

  @Test("Frames that the render thread delivers late are counted as its own")
  func starved() throws {
    let fixture = try SinkFixture()
    fixture.play(until: 1, holding: [0.5...0.54])
    fixture.finish()
    #expect(fixture.events.map(\.cause) == [.lateDelivery])
    Self.check(fixture, "starved")
  }

  @Test("A cycle that the server skips is counted as the server's")
  func lateServer() throws {
    let fixture = try SinkFixture()
    fixture.server.changes = [(.seconds(100.5), .stall), (.seconds(100.52), .continueCycles)]
    fixture.play(until: 1)
    fixture.finish()
    #expect(fixture.events.map(\.cause) == [.lateDevice])
    Self.check(fixture, "late")
  }

  @Test("The buffer doubles after two underruns if the request permits it")
  func growth() throws {
    let pauses = [0.3...0.34, 0.5...0.54, 0.7...0.72]
    let fixture = try SinkFixture(adaptsBuffer: true)
    fixture.play(until: 1, holding: pauses)
    fixture.finish()
    #expect(fixture.events.count { $0.kind == .degraded } == 1)
    #expect(fixture.events.contains { $0.text.contains("the buffer is now 21 ms") })
    // The third pause of the render thread is shorter than the new buffer.
    #expect(fixture.events.count { $0.kind == .underrun } == 2)
    let fixtureWithFixedBuffer = try SinkFixture()
    fixtureWithFixedBuffer.play(until: 1, holding: pauses)
    #expect(!fixtureWithFixedBuffer.events.contains { $0.kind == .degraded })
    #expect(fixtureWithFixedBuffer.events.count { $0.kind == .underrun } == 3)
  }

  @Test("A sink that is absent at first is heard when it appears, and time passes until then")
  func absent() throws {
    let fixture = try SinkFixture(isPresent: false)
    fixture.server.changes = [
      (.seconds(100), .removeSink), (.seconds(101), .addSink),
    ]
    fixture.play(until: 2)
    fixture.finish()
    #expect(fixture.events.map(\.kind) == [.reconnected])
    #expect(abs((fixture.outputsWithSound.first?.playedFrames.lowerBound ?? 0) - 48_000) < 1_000)
    #expect(fixture.playedFrameCount + fixture.missedFrameCount == fixture.position)
  }

  @Test("An idle stream counts no time as missed, and plays from the next frame on")
  func idle() throws {
    let fixture = try SinkFixture()
    fixture.play(until: 0.5)
    let queuedFrameCount = fixture.position - fixture.playedFrameCount
    #expect(fixture.sink.beginIdle())
    var noDescriptors: [PollDescriptor] = []
    fixture.server.wait(for: &noDescriptors, timeout: .seconds(5))
    fixture.play(until: 6)
    fixture.finish()
    #expect(fixture.events == [])
    #expect(fixture.playedFrameCount == fixture.position - queuedFrameCount)
  }

  @Test("The delay is the time until a written frame is heard")
  func delay() throws {
    let fixture = try SinkFixture()
    fixture.play(until: 0.5)
    // A cycle of 256 frames that has begun, two in the buffer, and 2 ms of the device.
    #expect((96...(256 + 512 + 96 + 1)).contains(fixture.sink.delayFrames))
  }
}
