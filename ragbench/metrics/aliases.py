"""Other names of metrics: those of ragas, DeepEval, trec_eval, evaluate and «Вопрошалыч»."""

from __future__ import annotations

# Label of a metric here → its names elsewhere, which are compared without case and signs.
ALIASES = {
    # rankings
    "average_precision": "map ap mean_average_precision map_cut",
    "hit_rate": "hit hits hr success recall_any",
    "inferred_ap": "infap",
    "judged": "judged_share",
    "mrr": "rr recip_rank reciprocal_rank mean_reciprocal_rank",
    "ndcg": "ndcg_cut normalized_discounted_cumulative_gain",
    "precision": "p",
    "r_precision": "rprec r_prec",
    "rbp": "rank_biased_precision",
    "recall": "r",
    # answers against references
    "bert_score": "bertscore bert_score_f1 avg_bert_score",
    "bleu": "bleu_score sacrebleu sentence_bleu avg_bleu",
    "chrf": "chrf_score",
    "chrf(words=2)": "chrf++ chrfpp",
    "dot_similarity": "avg_dot_similarity dot_product",
    "euclidean_distance": "avg_euclidean_distance",
    "exact_match": "em exact_match_metric",
    "exact_match(within=True)": "string_presence string_present contains",
    "rouge1_f": "rouge1 rouge_1 rouge_1_f avg_rouge1_f",
    "rouge2_f": "rouge2 rouge_2 rouge_2_f avg_rouge2_f",
    "rougeL_f": "rouge rouge_l rouge_l_f rouge_score avg_rougeL_f",
    "semantic_similarity": "answer_similarity semscore sas avg_semantic_similarity",
    "string_similarity": "non_llm_string_similarity levenshtein edit_similarity edit_distance",
    "token_f1": "squad_f1 f1_token token_level_f1",
    # answers judged
    "answer_accuracy": "nv_accuracy",
    "answer_correctness_rating": "avg_answer_correctness",
    "answer_relevance": "avg_answer_relevance",
    "aspect_critique": "aspect_critic g_eval geval",
    "context_entity_recall": "context_entities_recall",
    "context_precision": "llm_context_precision context_precision_with_reference "
    "llm_context_precision_with_reference contextual_precision contextual_precision_metric",
    "context_precision(strategy=answer)": "context_precision_without_reference "
    "llm_context_precision_without_reference",
    "context_precision_by_label": "id_based_context_precision",
    "context_precision_by_label(by=text)": "non_llm_context_precision "
    "non_llm_context_precision_with_reference",
    "context_recall": "llm_context_recall contextual_recall contextual_recall_metric",
    "context_recall_by_label": "id_based_context_recall",
    "context_recall_by_label(by=text)": "non_llm_context_recall",
    "context_relevance": "nv_context_relevance context_relevancy contextual_relevancy "
    "contextual_relevancy_metric",
    "e2e_score": "avg_e2e_score",
    "factual_correctness": "factual_correctness_metric",
    "faithfulness": "faithfulness_metric faithfulness_with_hhem multi_modal_faithfulness "
    "multimodal_faithness faithful_rate",
    "hallucination": "hallucination_metric",
    "nugget_score": "all_score nugget_recall",
    "response_groundedness": "nv_response_groundedness groundedness",
    "response_relevancy": "answer_relevancy answer_relevancy_metric response_relevance",
    "rubrics_score": "rubric_score rubrics domain_specific_rubrics instance_rubrics "
    "instance_specific_rubrics rubrics_score_with_reference rubrics_score_without_reference",
    "simple_criteria": "simple_criteria_score",
    # agents
    "goal_reached": "agent_goal_accuracy agent_goal_accuracy_without_reference "
    "task_completion task_completion_metric",
    "goal_reached(by_reference=True)": "agent_goal_accuracy_with_reference",
    "tool_call_accuracy": "tool_correctness tool_correctness_metric",
    "topic_adherence": "topic_adherence_score",
}
