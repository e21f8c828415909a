// A shop with the client that oapi-codegen generates: it buys an eSIM and prints its activation code.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"openapi-tools/reseller"
)

func main() {
	address, key := os.Args[1], os.Args[2]
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	client, err := reseller.NewClientWithResponses(address, reseller.WithRequestEditorFn(authorize))
	check(err)

	limit := 1
	packages, err := client.ListPackagesWithResponse(ctx, &reseller.ListPackagesParams{Limit: &limit})
	check(err)
	if packages.JSON200 == nil || len(packages.JSON200.Data) != 1 {
		log.Fatalf("no list of packages: %s", packages.Body)
	}
	chosen := packages.JSON200.Data[0]
	reference := fmt.Sprintf("go-%d", time.Now().UnixNano())

	wrong, err := client.CreateOrderWithResponse(ctx,
		&reseller.CreateOrderParams{IdempotencyKey: reference + "-wrong"},
		reseller.OrderInput{PackageId: chosen.Id, ExternalOrderId: "a b"})
	check(err)
	if wrong.ApplicationproblemJSON400 == nil {
		log.Fatalf("a wrong reference was accepted: %s", wrong.Body)
	}
	fmt.Println(*wrong.ApplicationproblemJSON400.Detail)

	wait := "wait=50"
	price := reseller.MoneyInput{
		Amount:   chosen.PriceForReseller.Amount,
		Currency: chosen.PriceForReseller.Currency,
	}
	created, err := client.CreateOrderWithResponse(ctx,
		&reseller.CreateOrderParams{IdempotencyKey: reference, Prefer: &wait},
		reseller.OrderInput{PackageId: chosen.Id, ExternalOrderId: reference, MaxPrice: &price})
	check(err)
	order := created.JSON201
	if order == nil || order.EsimId == nil {
		log.Fatalf("no eSIM: %s", created.Body)
	}
	activation, err := client.GetEsimActivationWithResponse(ctx, *order.EsimId)
	check(err)
	if activation.JSON200 == nil {
		log.Fatalf("no activation code: %s", activation.Body)
	}
	fmt.Println(order.Status, activation.JSON200.ActivationCode)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
