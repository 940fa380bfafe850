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
      let machine =
        isPresent
        ? PipeWireStateMachine() : PipeWireStateMachine(request, reportsFirstConnection: true)
      let server = server
      let connection = try #require(
        try PipeWireConnection(
          machine, clock: server, changeSignal: signal,
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
    /// - Parameter hold: The intervals in which the render thread does not run, in seconds.
    func play(until seconds: Double, holding hold: [ClosedRange<Double>] = []) {
      let end = Duration.seconds(100 + seconds)
      while server.now < end {
        let now = server.now / .seconds(1) - 100
        if let interval = hold.first(where: { $0.contains(now) }) {
          var none: [PollDescriptor] = []
          server.wait(for: &none, timeout: .seconds(interval.upperBound - now + 1e-6))
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
  private static func check(_ rig: SinkFixture, _ name: String) {
    let heard = rig.outputsWithSound
    let strays = heard.count { !$0.isConnected }
    #expect(strays == 0, "\(name): \(strays) stray cycles")
    let isOrdered = zip(heard, heard.dropFirst()).allSatisfy {
      $0.playedFrames.upperBound <= $1.playedFrames.lowerBound
    }
    #expect(isOrdered, "\(name): a frame was heard twice or out of order")
    #expect(
      rig.playedFrameCount + rig.missedFrameCount == rig.position,
      "\(name): \(rig.playedFrameCount) heard and \(rig.missedFrameCount) missed of \(rig.position)"
    )
    let starts = heard.map { output in
      output.seconds - Double(output.playedFrames.lowerBound - output.offset) / 48_000
    }
    let spread = (starts.max() ?? 0) - (starts.min() ?? 0)
    #expect(spread < 0.02, "\(name): frames are up to \(spread) s off their due times")
  }

  @Test("Every frame is heard in order, without a loss")
  func undisturbed() throws {
    let rig = try SinkFixture()
    rig.play(until: 1)
    rig.finish()
    #expect(rig.events == [])
    #expect(rig.playedFrameCount == rig.position)
    Self.check(rig, "undisturbed")
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
        let rig = try SinkFixture()
        let changes =
          first.changes.map { (0.4 + $0.0, $0.1) }
          + second.changes.map { (0.4 + interval + $0.0, $0.1) }
        rig.server.changes = changes.sorted { $0.0 < $1.0 }.map {
          (.seconds(100 + $0.0), $0.1)
        }
        rig.play(until: 2.6)
        rig.finish()
        let name = "\(first.name), then \(second.name) after \(interval) s"
        Self.check(rig, name)
        let failure = rig.events.first { $0.kind == .failed }
        #expect(failure == nil, "\(name)")
      }
    }
  }

  @Test("A sink that disappears and returns is reported, with the missed frames")
  func returned() throws {
    let rig = try SinkFixture()
    rig.server.changes = [(.seconds(100.5), .removeSink), (.seconds(101), .addSink)]
    rig.play(until: 2)
    rig.finish()
    #expect(rig.events.map(\.kind) == [.disconnected, .reconnected])
    #expect(abs(rig.missedFrameCount - 24_000) < 1_000)
    let firstHeard = rig.outputsWithSound.first { $0.seconds > 101 }
    #expect((firstHeard?.seconds ?? 0) < 101.02)
  }

  @Test("A sink that does not return is a failure")
  func lost() throws {
    let rig = try SinkFixture()
    rig.server.changes = [(.seconds(100.5), .removeSink)]
    rig.play(until: 2)
    rig.finish()
    #expect(rig.events.map(\.kind) == [.disconnected, .failed])
    #expect(rig.playedFrameCount + rig.missedFrameCount == rig.position)
  }

  @Test("A link to another sink silences the stream, and the message names that sink")
  func strayLink() throws {
    let rig = try SinkFixture()
    rig.server.changes = [(.seconds(100.5), .linkToDesktop)]
    rig.play(until: 1)
    rig.finish()
    #expect(rig.events.first?.text.contains("a link connects the stream to 'desktop'") == true)
    Self.check(rig, "stray")
  }

  @Test("Frames that the render thread delivers late are counted as its own")
  func starved() throws {
    let rig = try SinkFixture()
    rig.play(until: 1, holding: [0.5...0.54])
    rig.finish()
    #expect(rig.events.map(\.cause) == [.lateDelivery])
    Self.check(rig, "starved")
  }

  @Test("A cycle that the server skips is counted as the server's")
  func lateServer() throws {
    let rig = try SinkFixture()
    rig.server.changes = [(.seconds(100.5), .stall), (.seconds(100.52), .continueCycles)]
    rig.play(until: 1)
    rig.finish()
    #expect(rig.events.map(\.cause) == [.lateDevice])
    Self.check(rig, "late")
  }

  @Test("The buffer doubles after two underruns if the request permits it")
  func growth() throws {
    let holds = [0.3...0.34, 0.5...0.54, 0.7...0.72]
    let rig = try SinkFixture(adaptsBuffer: true)
    rig.play(until: 1, holding: holds)
    rig.finish()
    #expect(rig.events.count { $0.kind == .degraded } == 1)
    #expect(rig.events.contains { $0.text.contains("the buffer is now 21 ms") })
    // The third hold is shorter than the new buffer.
    #expect(rig.events.count { $0.kind == .underrun } == 2)
    let fixed = try SinkFixture()
    fixed.play(until: 1, holding: holds)
    #expect(!fixed.events.contains { $0.kind == .degraded })
    #expect(fixed.events.count { $0.kind == .underrun } == 3)
  }

  @Test("A sink that is absent at first is heard when it appears, and time passes until then")
  func absent() throws {
    let rig = try SinkFixture(isPresent: false)
    rig.server.changes = [
      (.seconds(100), .removeSink), (.seconds(101), .addSink),
    ]
    rig.play(until: 2)
    rig.finish()
    #expect(rig.events.map(\.kind) == [.reconnected])
    #expect(abs((rig.outputsWithSound.first?.playedFrames.lowerBound ?? 0) - 48_000) < 1_000)
    #expect(rig.playedFrameCount + rig.missedFrameCount == rig.position)
  }

  @Test("An idle stream counts no time as missed, and plays from the next frame on")
  func idle() throws {
    let rig = try SinkFixture()
    rig.play(until: 0.5)
    let unheard = rig.position - rig.playedFrameCount
    #expect(rig.sink.beginIdle())
    var none: [PollDescriptor] = []
    rig.server.wait(for: &none, timeout: .seconds(5))
    rig.play(until: 6)
    rig.finish()
    #expect(rig.events == [])
    #expect(rig.playedFrameCount == rig.position - unheard)
  }

  @Test("The delay is the time until a written frame is heard")
  func delay() throws {
    let rig = try SinkFixture()
    rig.play(until: 0.5)
    // A cycle of 256 frames that has begun, two in the buffer, and 2 ms of the device.
    #expect((96...(256 + 512 + 96 + 1)).contains(rig.sink.delayFrames))
  }
}
