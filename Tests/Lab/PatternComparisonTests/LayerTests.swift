import ComparisonFixtures
import HapticModel
import PatternComparison
import Testing

/// Comparisons of compositions with several layers.
struct LayerTests {
  private static let intensityStep = DynamicParameter(
    id: .hapticIntensityControl, value: 0.5, time: 0.6)
  /// The transients of `fiveTapPattern` alternating between two layers, and a continuous event
  /// under a dynamic parameter.
  private static let layers = [
    HapticPattern(events: [
      fiveTapPattern.events[0], fiveTapPattern.events[2], fiveTapPattern.events[4],
    ]),
    HapticPattern(events: [fiveTapPattern.events[1], fiveTapPattern.events[3]]),
    HapticPattern(events: [hum(0.4, 0.5)], parameters: [intensityStep]),
  ]

  private func sentences(_ change: (inout [HapticPattern]) -> Void) throws -> [String] {
    var changed = Self.layers
    change(&changed)
    return Comparison(try take(layers: Self.layers), try take(layers: changed)).sentences
  }

  @Test func equalLayersAreIdentical() throws {
    #expect(try sentences { _ in } == ["B is identical to A, sample for sample."])
  }

  /// The effect counts, not the division into layers.
  @Test func sameEventsInOtherLayersAreNoDifference() throws {
    let sentences = try sentences { layers in
      layers[0].events += layers[1].events
      layers.remove(at: 1)
    }
    #expect(sentences.count == 1 && sentences[0].hasPrefix("B is "), "\(sentences)")
    let singleLayer = try take(fiveTapPattern)
    let twoLayers = try take(layers: [Self.layers[0], Self.layers[1]])
    #expect(Comparison(singleLayer, twoLayers).differences.isEmpty)
  }

  @Test func eventsAtOtherBodyLocationsDiffer() throws {
    func composition(_ bodyLocations: HapticComposition.BodyLocation?...) -> HapticComposition {
      HapticComposition(
        layers: zip(Self.layers, bodyLocations).map {
          HapticComposition.Layer($0, bodyLocation: $1)
        })
    }
    func sentences(_ reference: HapticComposition, _ candidate: HapticComposition) throws
      -> [String]
    {
      Comparison(try take(reference), try take(candidate)).sentences
    }
    let left = HapticComposition.BodyLocation(1, of: 2, name: "left")
    let right = HapticComposition.BodyLocation(2, of: 2)
    let swapSentences = try sentences(composition(left, right, nil), composition(right, left, nil))
    #expect(
      swapSentences == [
        "B renders identically to A, but its file is different.",
        "B's transients 1, 3, and 5 are played at 2 instead of at left.",
        "B's transients 2 and 4 are played at left instead of at 2.",
      ])
    let humSentences = try sentences(composition(left, right, left), composition(left, right, nil))
    #expect(
      humSentences.count == 2
        && humSentences[1].hasSuffix("is played everywhere instead of at left."))
  }

  /// Events are numbered over all layers, by time.
  @Test func eventsAreNumberedAcrossLayers() throws {
    let sentences = try sentences { $0[1].events[1].time += 0.008 }
    #expect(sentences == ["B's fourth transient starts 8 ms later, at 0.758 s."])
  }

  @Test func eventIndicesAreGroupedByLayer() throws {
    var changed = Self.layers
    changed[1].events[1].time += 0.008
    let comparison = Comparison(try take(layers: Self.layers), try take(layers: changed))
    #expect(comparison.differences.map(\.referenceEventIndices) == [[4]])
    #expect(comparison.differences.map(\.candidateEventIndices) == [[4]])
  }

  @Test func controlIsNamedWithItsLayer() throws {
    let removalSentences = try sentences { $0[2].parameters = [] }
    #expect(
      removalSentences == ["B does not set layer 3 intensity to 0.5 at 0.6 s: 12 dB stronger."])
    let additionSentences = try sentences {
      $0[0].parameters = [DynamicParameter(id: .hapticSharpnessControl, value: 0.2, time: 0.9)]
    }
    #expect(
      additionSentences.count == 1
        && additionSentences[0].hasPrefix("B sets layer 1 sharpness to 0.2 at 0.9 s: "))
  }

  /// A control affects only the events of its own layer.
  @Test func controlMovedToAnotherLayerChangesBothLayers() throws {
    let sentences = try sentences {
      $0[2].parameters = []
      $0[0].parameters = [Self.intensityStep]
    }
    #expect(sentences.count == 2)
    #expect(sentences.contains { $0.contains("layer 1 intensity") })
    #expect(sentences.contains { $0.contains("layer 3 intensity") })
  }
}
