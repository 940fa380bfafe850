import HapticRender
import PatternComparison
import SignalAnalysis
import SoundFile
import Testing

@testable import ReviewPages

extension InBrowser {
  /// The sound of a report in a real browser.
  @Suite struct ReportSoundTests {
    /// A script that records the audio nodes of the page and measures the output.
    static let audioProbeScript = """
      window.audioProbe = { buffers: [], gains: [] };
      const OriginalAudioContext = window.AudioContext;
      window.AudioContext = class extends OriginalAudioContext {
        constructor(options) {
          super(options);
          audioProbe.context = this;
          audioProbe.analyser = new AnalyserNode(this, { fftSize: 2048 });
        }
      };
      const decode = OfflineAudioContext.prototype.decodeAudioData;
      OfflineAudioContext.prototype.decodeAudioData = async function (bytes) {
        const buffer = await decode.call(this, bytes);
        audioProbe.buffers.push(buffer);
        return buffer;
      };
      const connect = AudioNode.prototype.connect;
      AudioNode.prototype.connect = function (target, ...rest) {
        if (target === audioProbe.context?.destination) connect.call(this, audioProbe.analyser);
        return connect.call(this, target, ...rest);
      };
      audioProbe.peak = () => {
        const samples = new Float32Array(2048);
        audioProbe.analyser.getFloatTimeDomainData(samples);
        return samples.reduce((maximum, sample) => Math.max(maximum, Math.abs(sample)), 0);
      };
      """

    private func page(_ html: [UInt8], query: String = "") throws -> BrowserPage {
      try BrowserPage(html, query: query, preparation: Self.audioProbeScript)
    }

    @Test("The page plays the rendering")
    func pagePlaysTheRendering() throws {
      let takes = try PageFixtures.twoTakes()
      let page = try page(PageFixtures.report(takes))
      try page.wait(for: "audioProbe.buffers.length === 2")
      try page.press("s")
      try page.wait(for: "audioProbe.buffers.length === 4")
      // The order of decoding is arbitrary: each take is equal to one of the buffers.
      for take in takes {
        var dither = Dither()
        let signal = try PageFixtures.signal(take, profile: .phone)
        let quantizedSamples = signal.channels[0].map { Int(dither.quantize($0)) }
        #expect(quantizedSamples.map(abs).max() ?? 0 > 3_000)
        let pickedSamples = stride(from: 0, to: quantizedSamples.count, by: 97).map {
          quantizedSamples[$0]
        }
        let maximumError = try page.number(
          """
          Math.min(...audioProbe.buffers.map((buffer) => {
            if (buffer.length !== \(quantizedSamples.count) || buffer.sampleRate !== 8000) return 9;
            const samples = buffer.getChannelData(0);
            return \(pickedSamples).reduce((maximum, number, index) =>
              Math.max(maximum, Math.abs(samples[index * 97] - number / 32768)), 0);
          }))
          """)
        #expect((maximumError ?? 9) < 1.0 / 65_536)
      }
    }

    private let playHeadExpression = "Number(document.getElementById('scrub').ariaValueNow)"

    @Test("Playback is audible and moves the play head")
    func playbackMovesThePlayHead() throws {
      let page = try page(PageFixtures.twoTakeReport())
      try page.press("a")
      try page.press(" ")
      try page.wait(for: "audioProbe.analyser && audioProbe.peak() > 0.05")
      try page.wait(for: "\(playHeadExpression) > 0.2")
      // The loop starts again.
      try page.wait(for: "\(playHeadExpression) < 0.1")
      try page.press(" ")
      try page.wait(for: "!document.body.classList.contains('playing')")
      try page.wait(for: "audioProbe.peak() < 0.0001")
      #expect(page.errorMessages == [])
    }

    @Test("Play works while sounds are decoded")
    func playWorksDuringDecoding() throws {
      let page = try BrowserPage(
        PageFixtures.twoTakeReport(),
        preparation: Self.audioProbeScript + """
          const decodeLate = OfflineAudioContext.prototype.decodeAudioData;
          OfflineAudioContext.prototype.decodeAudioData = async function (bytes) {
            await new Promise((resolve) => { (window.waiting ??= []).push(resolve); });
            return decodeLate.call(this, bytes);
          };
          """)
      try page.wait(for: "window.waiting?.length === 2")
      try page.press(" ")
      try page.wait(for: "document.body.classList.contains('playing')")
      try page.evaluate("waiting.forEach((resolve) => resolve())")
      try page.wait(for: "audioProbe.analyser && audioProbe.peak() > 0.05")
    }

    @Test("Playback stops at the end of the sound")
    func playbackStopsAtTheEnd() throws {
      let page = try page(PageFixtures.twoTakeReport())
      try page.press("a")
      try page.press("l")
      // On a busy machine, a sound can start and end between two frames.
      try page.evaluate(
        """
        window.changes = [];
        new MutationObserver(() => changes.push(document.body.classList.contains("playing")))
          .observe(document.body, { attributes: true, attributeFilter: ["class"] });
        """)
      try page.click("#play")
      try page.wait(for: "changes.includes(true) && !changes.at(-1)")
      #expect(try page.number(playHeadExpression) == 0)
    }

    /// Loops the middle of the continuous event.
    private func loopTheHum(_ page: BrowserPage) throws {
      for _ in 0..<2 {
        try page.press("ArrowRight", shift: true)
      }
      try page.press("[")
      try page.press("ArrowRight", shift: true)
      try page.press("]")
    }

    @Test("A loop stays in its range")
    func loopStaysInItsRange() throws {
      let page = try page(PageFixtures.twoTakeReport())
      try loopTheHum(page)
      try page.press(" ")
      // Three passes of 0.1 s are observed in every frame.
      let boundsText = try page.string(
        """
        new Promise((resolve) => {
          const positions = [];
          const observe = () => {
            if (document.body.classList.contains("playing")) positions.push(\(playHeadExpression));
            if (positions.length < 40) requestAnimationFrame(observe);
            else resolve([Math.min(...positions), Math.max(...positions)].join(" "));
          };
          observe();
        })
        """)
      let bounds = (boundsText ?? "").split(separator: " ").compactMap { Double($0) }
      #expect(bounds.count == 2)
      #expect(bounds[0] >= 0.199 && bounds[1] <= 0.301 && bounds[1] - bounds[0] > 0.05)
    }

    @Test("Takes alternate")
    func takesAlternate() throws {
      // The first take is silent while the second is not.
      let quiet = try PageFixtures.take("quiet", PageFixtures.pattern(intensity: 0.01))
      let loud = try PageFixtures.take("loud", PageFixtures.pattern(intensity: 1))
      let page = try page(PageFixtures.report([quiet, loud]))
      try loopTheHum(page)
      try page.press(" ")
      for _ in 0..<2 {
        try page.wait(for: "audioProbe.analyser && audioProbe.peak() > 0.2")
        #expect(try page.bool("document.querySelectorAll('#hear .sounds').length === 1"))
        try page.wait(for: "document.querySelector('#hear .sounds')?.dataset.hear === '0'")
        try page.wait(for: "audioProbe.peak() < 0.02")
      }
    }

    @Test("Switching crossfades tracks under one play head")
    func switchingCrossfades() throws {
      let quiet = try PageFixtures.take("quiet", PageFixtures.pattern(intensity: 0.01))
      let loud = try PageFixtures.take("loud", PageFixtures.pattern(intensity: 1))
      let page = try page(PageFixtures.report([quiet, loud]))
      try loopTheHum(page)
      try page.press(" ")
      try page.wait(for: "audioProbe.analyser && document.body.classList.contains('playing')")
      try page.press("b")
      try page.wait(for: "audioProbe.peak() > 0.2")
      try page.press("a")
      try page.wait(for: "audioProbe.peak() < 0.02")
    }

    @Test("Level matching uses the gains of the comparison")
    func levelMatchUsesComparisonGains() throws {
      let quiet = try PageFixtures.take("quiet", PageFixtures.pattern(intensity: 0.5))
      let loud = try PageFixtures.take("loud", PageFixtures.pattern(intensity: 1))
      let signals = try [quiet, loud].map { try PageFixtures.signal($0, profile: .phone) }
      let gains = LevelMatch.loudness.gains(for: signals)
      #expect(gains[0] == 1 && gains[1] < 0.9)
      let page = try page(PageFixtures.report([quiet, loud], hasSpeakers: false))
      try loopTheHum(page)
      try page.press("b")
      try page.press(" ")
      try page.wait(for: "audioProbe.analyser && document.body.classList.contains('playing')")
      let humPeak = Double(signals[1].channels[0][1_600..<2_400].map(abs).max() ?? 0)
      try page.wait(for: "Math.abs(audioProbe.peak() - \(humPeak)) < 0.01")
      try page.press("g")
      #expect(try page.string("document.getElementById('match').ariaPressed") == "true")
      try page.wait(for: "Math.abs(audioProbe.peak() - \(humPeak * gains[1])) < 0.01")
    }

    @Test("Small speakers are the initial output")
    func smallSpeakersAreTheFirstOutput() throws {
      let page = try page(PageFixtures.twoTakeReport())
      let outputLabel = "document.querySelector('#output [aria-checked=true]').textContent"
      #expect(try page.string(outputLabel) == "Small speakers")
      try page.press("s")
      #expect(try page.string(outputLabel) == "Actuator")
      #expect(
        try page.string("document.getElementById('note').textContent")
          == """
          The signal for the actuator: requires a shaker or good headphones. Laptop speakers \
          cannot reproduce it.
          """
      )
      let pageWithoutSpeakers = try BrowserPage(
        PageFixtures.report(PageFixtures.twoTakes(), hasSpeakers: false))
      #expect(try pageWithoutSpeakers.bool("document.getElementById('output-choice').hidden"))
    }
  }
}
