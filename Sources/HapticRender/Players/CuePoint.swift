internal import RealtimeMemory
internal import Synchronization

/// A place in the middle of a plan to start from: the voices that sound there.
struct CuePoint: ~Copyable {
  /// The frame of the pattern.
  let frame: Int64
  let nextVoice: Int
  let sounding: FixedBuffer<Int32>
  let isReleased = Atomic<Bool>(false)

  init(frame: Int64, nextVoice: Int, sounding: [Int32]) {
    self.frame = frame
    self.nextVoice = nextVoice
    self.sounding = FixedBuffer(sounding)
  }
}

/// A place in the middle of a plan, as the control side holds it.
///
/// It must live until the render thread has let go of it.
public final class SharedCuePoint: @unchecked Sendable {
  let entry: Cell<CuePoint>
  /// The cue point, as commands refer to it.
  var cue: CuePointReference { unsafe entry.reference }

  /// Finds the continuous voices that sound at a frame: a look at every voice before it.
  ///
  /// What has ended by then is past, and so are transients that have begun.
  public init(of plan: RenderPlan, at frame: Int64) {
    let frame = max(0, frame)
    let planned = plan.view.value.voices
    var next = 0
    var found: [Int32] = []
    while next < planned.count && planned[next].onset < frame {
      let voice = planned[next]
      if !voice.source.isBurst, voice.onset + voice.envelope.end > frame {
        found.append(Int32(clamping: next))
      }
      next += 1
    }
    entry = Cell(CuePoint(frame: frame, nextVoice: next, sounding: found))
  }

  /// Whether the render thread has let go of it.
  public var isReleased: Bool { entry.value.isReleased.load(ordering: .acquiring) }
}
