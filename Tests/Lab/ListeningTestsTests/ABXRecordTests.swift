import ListeningTests
import Testing

struct ABXRecordTests {
  @Test("A record is complete JSON")
  func recordIsCompleteJSON() {
    var test = ABXTest(seed: 5, plannedTrialCount: 2)
    test.recordSwitch(to: .a)
    test.recordSwitch(to: .x)
    test.recordAnswer(.a, at: 1.23456)
    let record = ABXRecord(
      test: test,
      takeA: .init(name: "one.ahap", sha256: "00", playbackGain: 0.5, durationSeconds: 1.5),
      takeB: .init(name: "two.wav", sha256: "ff", playbackGain: 1, durationSeconds: 2),
      levelMatchName: "felt",
      profileName: "phone",
      strength: 0.5, program: "temblor 1.0", renderingModelVersion: 1,
      startTime: "2026-01-31T12:00:00Z",
      deviceName: "null", isSimulated: false)
    #expect(
      String(decoding: record.json(), as: UTF8.self) == """
        {
          "formatVersion": 2,
          "test": "abx",
          "program": "temblor 1.0",
          "renderingModel": 1,
          "startTime": "2026-01-31T12:00:00Z",
          "device": "null",
          "simulated": false,
          "profile": "phone",
          "strength": 0.5,
          "match": "felt",
          "a": {
            "name": "one.ahap",
            "sha256": "00",
            "gain": 0.5,
            "seconds": 1.5
          },
          "b": {
            "name": "two.wav",
            "sha256": "ff",
            "gain": 1.0,
            "seconds": 2.0
          },
          "seed": 5,
          "plannedTrials": 2,
          "trials": [
            { "x": "a", "answer": "a", "correct": true, "switchCounts": { "a": 1, "b": 0, "x": 1 \
        }, "from": 0.0, "to": 1.235 }
          ],
          "result": {
            "correctCount": 1,
            "trials": 1,
            "complete": false,
            "pValue": 0.5,
            "conclusion": "tooFewTrials",
            "sentence": "1 of 1 correct. By guessing, the probability of at least 1 correct answer \
        is 50 %. At least 5 trials are needed for a result. The test ended after 1 of 2 trials: \
        stopping early inflates the result."
          }
        }

        """)
  }
}
