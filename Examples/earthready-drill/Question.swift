/// A question of the drill, and which of its answers is right.
struct Question: Sendable {
  /// What is asked.
  var text: String
  /// What can be answered.
  var answers: [String]
  /// The index of the right answer.
  var right: Int
  /// What is to be learned.
  var lesson: String

  /// The questions of the drill, in order.
  static let all = [
    Question(
      text: "You are indoors and the ground begins to shake. What do you do?",
      answers: ["Run outside", "Drop, cover and hold on", "Stand in a doorway"], right: 1,
      lesson: "Get under something sturdy and hold on to it until the shaking stops."),
    Question(
      text: "The shaking has stopped. What comes first?",
      answers: ["Look after yourself and others", "Take the lift down", "Light a candle"],
      right: 0, lesson: "See who is hurt; aftershocks may follow, so stay away from lifts."),
    Question(
      text: "You smell gas.",
      answers: ["Switch on the light", "Look for the leak", "Open a window and leave"], right: 2,
      lesson: "A spark is enough. Leave, and call for help from outside."),
  ]
}
